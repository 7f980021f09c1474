"""What makes a document doubtful, and what is told of it with every answer until somebody has looked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from harry_mcp.domain.plain import one_line


class RotSignal(StrEnum):
    """What makes a document doubtful."""

    STALE = "stale"
    CONTRADICTION = "contradiction"
    DEAD_SOURCE = "dead_source"
    NEGATIVE_FEEDBACK = "negative_feedback"


class CheckState(StrEnum):
    """How a check ended. ``partial``: time or a limit ran out, the next run goes on. ``busy``: another process is at
    it."""

    DONE = "done"
    PARTIAL = "partial"
    BUSY = "busy"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Example:
    """A document that a check spoke against, and why, in a sentence."""

    document_id: str
    title: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """How good a signal was so far: of the documents that it flagged, those whose flag a curator bore out (archived,
    rejected, rewritten), those that one dismissed (approved), and those that wait."""

    confirmed: int = 0
    dismissed: int = 0
    waiting: int = 0

    @property
    def precision(self) -> float:
        """The share that was borne out, -1 before anybody looked."""
        looked = self.confirmed + self.dismissed
        return self.confirmed / looked if looked else -1.0


@dataclass(slots=True, kw_only=True)
class CheckReport:
    """What one run of a check did. Grows while the check goes.

    ``examined`` counts documents, or addresses; ``left`` what is due and was not come to. ``flagged`` documents were
    live before, ``logged`` ones were flagged already or are not served, ``known`` ones have this evidence on record.
    ``counts`` are the check's own figures by name. ``skipped`` addresses may not be asked, and are neither examined nor
    left; ``note`` says why, in half sentences, and what to set.
    """

    signal: RotSignal
    state: CheckState = CheckState.DONE
    examined: int = 0
    left: int = 0
    skipped: int = 0
    note: str = ""
    flagged: int = 0
    logged: int = 0
    known: int = 0
    counts: dict[str, int] = field(default_factory=dict[str, int])
    examples: list[Example] = field(default_factory=list[Example])
    track: Track = field(default_factory=Track)
    error: str = ""
    seconds: float = 0.0

    def count(self, name: str, number: int = 1) -> None:
        """Add to one of the check's own figures."""
        self.counts[name] = self.counts.get(name, 0) + number


@dataclass(frozen=True, slots=True)
class RotReport:
    """What the checks of one run did, each for itself."""

    checks: tuple[CheckReport, ...]

    @property
    def flagged(self) -> int:
        """Documents that were live before."""
        return sum(check.flagged for check in self.checks)

    @property
    def complete(self) -> bool:
        """Whether all of them came through all that was due."""
        return all(check.state is CheckState.DONE for check in self.checks)


_LATER = "Nobody has checked it since."
_THIS_LATER = "Nobody has checked this one since."
_OPEN = "which of them is right is open."
_TITLE = 80


def caveat(signal: RotSignal, detail: Mapping[str, object], now: datetime) -> str:
    """What a signal says against a document, in a sentence for the reader of an answer.

    No text of a document or a person goes into it: it stands outside of the fences of a reply. The title of another
    document is put in when it is read (``as_of_now``).
    """
    day = f"{now:%Y-%m-%d}"
    match signal:
        case RotSignal.STALE:
            words = (
                f"It has not changed since {detail.get('unchanged_since', day)}, and questions about its subject go "
                "unanswered."
            )
        case RotSignal.CONTRADICTION:
            words = _contradicted(detail, day)
        case RotSignal.DEAD_SOURCE:
            words = f"{_dead(detail)}."
        case RotSignal.NEGATIVE_FEEDBACK:
            words = _reported(detail, day)
    return f"{words} {_LATER}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """What happened since a signal last spoke against a document.

    ``other_id`` is the other side of a contradiction, or empty; ``other_status`` is empty when that one was removed.
    ``act`` is what a curator did with the document and did not undo, keep or rewrite, or empty.
    """

    document_id: str
    signal: str
    other_id: str
    other_title: str
    other_status: str
    other_changed: bool
    act: str
    acted_at: datetime | None


def as_of_now(caveats: Mapping[str, str], since: Sequence[Since]) -> dict[str, str]:
    """The stored sentences by signal, with what happened since they were written."""
    by_signal = {each.signal: each for each in since}
    return {
        signal: _renewed(words, by_signal[signal]) if signal in by_signal else words
        for signal, words in caveats.items()
    }


def undecided(caveats: Mapping[str, str]) -> str:
    """What is told of a document that another one contradicts, while it is open which of them is right; else empty."""
    words = caveats.get(RotSignal.CONTRADICTION.value, "")
    return words if _OPEN in words else ""


def _renewed(words: str, since: Since) -> str:
    became = _became(since) if since.other_id else ""
    if since.other_id:
        says = f"The document {since.other_id} says"
        name = f"“{one_line(since.other_title, _TITLE)}” ({since.other_id})" if since.other_status else says[:-5]
        words = words.replace(says, f"{name} said" if became else f"{name} says")
    if became:
        words = words.replace(f"; {_OPEN}", f" and was {became} since.").replace(_LATER, _THIS_LATER)
    if since.act and since.acted_at is not None:
        done = "kept it flagged" if since.act == "keep" else "rewrote it"
        told = f"A curator {done} on {since.acted_at:%Y-%m-%d}."
        words = words.replace(_LATER, told).replace(_THIS_LATER, told)
    return words


def _became(since: Since) -> str:
    """What became of the other side of a contradiction; empty when it still stands as it was compared."""
    if since.other_status in ("archived", "rejected"):
        return since.other_status
    if not since.other_status:
        return "removed"
    if since.other_changed:
        return "changed"
    # Both sides were flagged, so one that is live again was approved in the face of it.
    return "approved" if since.other_status == "live" else ""


def _contradicted(detail: Mapping[str, object], day: str) -> str:
    other = detail.get("other")
    if isinstance(other, Mapping) and "document_id" in other:
        return f"The document {other['document_id']} says something else (found {day}); {_OPEN}"
    if detail.get("facts"):
        return f"Facts in it changed at its source, by the version of {day}."
    return f"Its text changed much at its source, by the version of {day}."


def _dead(detail: Mapping[str, object]) -> str:
    since = detail.get("since", "")
    status = detail.get("status")
    match detail.get("kind"):
        case "moved":
            return f"Its source redirects to another site since {since}"
        case "gone":
            return f"Its source is gone since {since} (it answers {status})"
        case _:
            answers = f"it answers {status}" if status else "it does not answer"
            return f"Its source could not be reached since {since} ({answers})"


def _reported(detail: Mapping[str, object], day: str) -> str:
    if "correction_id" in detail:
        return f"A correction of {day} says that something in it is wrong ({detail['correction_id']})."
    reason = str(detail.get("reason", ""))
    said = {"outdated": "outdated", "wrong": "wrong", "incomplete": "incomplete", "bad_source": "a bad source"}
    return f"A user reported on {day} that it is {said.get(reason, 'no good answer')}."
