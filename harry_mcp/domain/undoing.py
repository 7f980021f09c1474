"""Whether an action can be taken back, and what a document becomes then.

The rule is that of a stack for each document: the last action that stands is undone first. So any sequence of actions
and undos leaves what the sequence without the undone ones would have left. What happened to documents in between by
other means stays: a signal still counts, a newer text of the source stays, what was removed for good is passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import DocumentStatus


@dataclass(frozen=True, slots=True)
class ActionRow:
    """An action on record. ``expired``: it is older than the days in which it can be undone."""

    id: str
    action: str
    actor: str
    reason: str
    undoes: str
    undone_by: str
    created_at: datetime
    undo_until: datetime
    expired: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What an action made of a document, and how that document stands now.

    ``status_now`` is empty when it is gone. ``flagged_since``: a signal spoke against it afterwards. ``later`` is the
    newest action that stands on top of this one, or empty. ``from_source``: its text is what its source says, and not a
    curator's. ``removed_since``: it was removed for good afterwards, also when its source brought it back. ``kept``:
    what a rewrite replaced is still there.
    """

    action_id: str
    document_id: str
    title: str
    before: str
    after: str
    before_version: int
    after_version: int
    after_hash: str
    caveats: dict[str, str]
    closed: list[dict[str, Any]]
    log_id: int
    status_now: str
    version_now: int
    hash_now: str
    flagged_since: bool
    later: str
    from_source: bool
    removed_since: bool
    kept: bool

    def gone(self, action: str) -> bool:
        """Whether nothing of the document is left that an action could be undone on."""
        return not self.status_now or self.removed_since or (action == ReviewAction.REWRITE and not self.kept)

    @property
    def flagged_only(self) -> bool:
        """Whether all that happened to its status is that a signal flagged it."""
        return self.after == DocumentStatus.LIVE and self.status_now == DocumentStatus.FLAGGED and self.flagged_since


def obstacle(action: ActionRow, standings: Sequence[Standing], days: int) -> str:
    """Why an action cannot be undone, in a sentence or two; empty when it can."""
    if action.action == ReviewAction.UNDO:
        return "A rollback is not undone itself; do again what it took back."
    if action.undone_by:
        return f"It was undone already, by {action.undone_by}."
    if action.expired:
        return f"It is older than the {days} days in which an action can be undone."
    left = [each for each in standings if not each.gone(action.action)]
    if standings and not left:
        return f"{_named(standings[0])} was removed for good since."
    return next((why for each in left if (why := _changed(action, each))), "")


def _changed(action: ActionRow, standing: Standing) -> str:
    named = _named(standing)
    if standing.later:
        return f"A later action stands on {named}: undo {standing.later} first."
    # Where only the status was changed, a newer text of the source does not stand in the way: it stays.
    rewritten = action.action == ReviewAction.REWRITE
    if rewritten and (standing.version_now, standing.hash_now) != (standing.after_version, standing.after_hash):
        return (
            f"{named} was ingested anew since and has another text (version {standing.version_now}), which "
            "an undo would lose. Archive or rewrite it instead."
        )
    if rewritten and standing.from_source:
        return f"The source of {named} says the same since. Archive or rewrite it instead."
    if standing.status_now != standing.after and not standing.flagged_only:
        return (
            f"{named} is {standing.status_now} now and not {standing.after}: it was changed outside of the review. "
            "Act on it as it is."
        )
    return ""


def _named(standing: Standing) -> str:
    return f"“{standing.title}” ({standing.document_id})"


def put_back(standing: Standing) -> DocumentStatus:
    """The status that a document goes back to: the one before, but what was said against it since still counts."""
    before = DocumentStatus(standing.before)
    return DocumentStatus.FLAGGED if before is DocumentStatus.LIVE and standing.flagged_since else before


def differences(standing: Standing, signals: Sequence[str], *, rewritten: bool) -> tuple[str, ...]:
    """What of a document is not as it was before the action, once that is taken back, in sentences.

    ``signals`` are those that spoke against it since and count; ``rewritten``: the action was a rewrite, whose text
    from before is brought back.
    """
    found: list[str] = []
    if not rewritten and standing.version_now != standing.before_version:
        found.append(
            f"Its text is not the one of then: it is at version {standing.version_now}, and was at version "
            f"{standing.before_version}."
        )
    if signals:
        status = put_back(standing)
        was = "" if status == standing.before else f" and was {standing.before}"
        found.append(f"It is {status.value} now{was}: {', '.join(signals)} spoke against it since.")
    return tuple(found)
