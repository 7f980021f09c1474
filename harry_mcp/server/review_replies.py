"""The curators' replies as a whole: of the queue, of what was done, and of what would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import BaseModel

from harry_mcp.domain.curation import (
    DocumentChange,
    QueueTab,
    RefusedDocument,
    ReviewAction,
    ReviewOutcome,
    ReviewPreview,
)
from harry_mcp.server.fitting import fitting, following, more
from harry_mcp.server.moments import moment
from harry_mcp.server.render_review import (
    action_reply,
    answer_reply,
    change_reply,
    dossier_reply,
    refused_reply,
    waiting_reply,
)
from harry_mcp.server.schemas_review import Consented, QueueReply, ReviewReply

if TYPE_CHECKING:  # heavy, and the server imports this module before its first answer
    from harry_mcp.loop.reviewing import ReviewFlow

T = TypeVar("T", bound=BaseModel)
# Characters of JSON: of what was done to one document, and of the documents that an action changes and leaves.
_HISTORY, _CHANGES, _REFUSED = 8_000, 12_000, 6_000

Shown = Literal["pending", "flagged", "archived", "recent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which part of a tab is asked for; empty filters let everything through.

    ``characters`` of JSON are the most that the entries may have, 0 any number; the rest comes with the next page.
    """

    words: str = ""
    signal: str = ""
    limit: int
    offset: int = 0
    characters: int = 0

    def fit(self, entries: Sequence[T]) -> Sequence[T]:
        """The first of them that fit."""
        return fitting(entries, self.characters) if self.characters else entries


async def queue_reply(review: ReviewFlow, tab: Shown, document_id: str, asked: Asked) -> QueueReply:
    """A tab of the queue, or one document where its id is given."""
    if document_id:
        return await _of_document(review, document_id)
    if tab == "recent":
        return await _of_recent(review, asked)
    return await _of_tab(review, QueueTab(tab), asked)


async def _of_tab(review: ReviewFlow, tab: QueueTab, asked: Asked) -> QueueReply:
    page = await review.queue(tab, limit=asked.limit, offset=asked.offset, words=asked.words, signal=asked.signal)
    documents = asked.fit([waiting_reply(item) for item in page.items])
    left = page.total - asked.offset - len(documents)
    after = asked.offset + len(documents) if left > 0 and documents else -1
    more = f" {left} more: offset {after}." if after >= 0 else ""
    return await _reply(
        review,
        tab=tab.value,
        total=page.total,
        next_offset=after,
        documents=documents,
        next_step=(_TAB_NEXT[tab] if page.items else "Nothing waits here.") + more,
    )


async def _of_recent(review: ReviewFlow, asked: Asked) -> QueueReply:
    found = await review.recent(limit=asked.limit + 1, offset=asked.offset)
    actions = asked.fit([action_reply(action) for action in found[: asked.limit]])
    after = following(len(actions), len(found), asked.offset)
    return await _reply(
        review,
        tab="recent",
        next_offset=after,
        actions=actions,
        next_step=("rollback_review takes an undoable action back." if actions else "Nothing was done yet.")
        + more(after),
    )


async def _of_document(review: ReviewFlow, document_id: str) -> QueueReply:
    found = await review.document(document_id)
    return await _reply(
        review,
        tab="document",
        documents=[waiting_reply(found.item)],
        actions=fitting([action_reply(action) for action in found.actions[:10]], _HISTORY),
        dossier=[dossier_reply(found)],
        next_step=f"Tell the curator why it is here, and ask which to do: {', '.join(found.allowed)}.",
    )


async def _reply(review: ReviewFlow, **told: object) -> QueueReply:
    counts = {tab.value: number for tab, number in (await review.waiting()).items()}
    absent = {**dict.fromkeys(("documents", "actions", "dossier"), ()), "total": -1, "next_offset": -1}
    return QueueReply.model_validate({**absent, **counts, **told})


_TAB_NEXT = {
    QueueTab.PENDING: "Go through them with the curator; review_documents with preview shows which answers change, "
    "then approve, rewrite or reject.",
    QueueTab.FLAGGED: "Go through them with the curator, the first first: a document_id shows the passages; then "
    "review_documents: approve what is right, rewrite or archive what is wrong, keep what is open.",
    QueueTab.ARCHIVED: "review_documents with restore brings one back.",
}


def would(preview: ReviewPreview, answer: Consented, *, brief: bool = False) -> ReviewReply:
    """What an action would do, and why it was not done: it was only to be shown, or it was not allowed.

    ``brief``: where very many documents change, it names some and says so. The same holds for the others here.
    """
    outcome = {"cannot_be_asked": "needs_confirmation", "declined": "declined", "cancelled": "declined"}
    common, cut = _common(preview.action, preview.changes, preview.refused, brief=brief)
    return ReviewReply.model_validate(
        {
            **common,
            "outcome": outcome.get(answer, "preview"),
            "consent": answer,
            "action_id": "",
            "undo_until": "",
            "answers": [answer_reply(each) for each in preview.answers],
            "questions_asked": preview.asked,
            "questions_left": preview.unasked,
            "note": f"{preview.note} {cut}".strip(),
            "next_step": _NOT_DONE[answer] + _written_from(preview),
        }
    )


def did(outcome: ReviewOutcome, answer: Consented, *, brief: bool = False) -> ReviewReply:
    """What an action did."""
    done = bool(outcome.done)
    step = "Nothing was changed; refused says why."
    if done:
        step = f"Tell the curator what was done. rollback_review with {outcome.action_id} undoes it."
    common, cut = _common(outcome.action, outcome.done, outcome.refused, brief=brief)
    return ReviewReply.model_validate(
        {
            **common,
            "outcome": "done" if done else "nothing",
            "consent": answer,
            "action_id": outcome.action_id,
            "undo_until": moment(outcome.undo_until),
            "answers": [],
            "questions_asked": 0,
            "questions_left": 0,
            "note": cut + (" audit_trail has all that was done." if cut and done else ""),
            "next_step": step,
        }
    )


def undone(action_id: str, outcome: ReviewOutcome, *, brief: bool = False) -> ReviewReply:
    """What taking an action back did."""
    reply = did(outcome, "not_needed", brief=brief)
    differing = _differing(outcome)
    as_it_was = "all is as it was" if not outcome.refused else "what is still there is as it was, and what is gone"
    if differing:
        as_it_was = f"it is undone, but {differing}"
        as_it_was += ", and what is gone" if outcome.refused else ""
    step = f"Tell the curator that {as_it_was}. An undo is not undone; do the action again if it was right."
    said = f" {differing[0].upper()}{differing[1:]}." if differing else ""
    note = f"{action_id} is undone, by {outcome.action_id}.{said} {reply.note}".strip()
    return reply.model_copy(update={"action_id": "", "note": note, "next_step": step})


def _differing(outcome: ReviewOutcome) -> str:
    """How many documents are not wholly as they were before what was undone; empty when none."""
    number = sum(bool(change.notes) for change in outcome.done)
    if not number:
        return ""
    documents = "the document is" if len(outcome.done) == 1 else f"{number} of {len(outcome.done)} documents are"
    return f"{documents} not wholly as before, as the notes under changes say"


def _common(
    action: ReviewAction,
    changes: tuple[DocumentChange, ...],
    refused: tuple[RefusedDocument, ...],
    *,
    brief: bool,
) -> tuple[dict[str, object], str]:
    """The part that all have, and what was cut off it to keep the reply short, in a sentence."""
    changed = [change_reply(change) for change in changes]
    left = [refused_reply(each) for each in refused]
    if brief:
        changed, left = fitting(changed, _CHANGES), fitting(left, _REFUSED)
    cut = ""
    if len(changed) < len(changes) or len(left) < len(refused):
        cut = (
            f"To keep the reply short it names {len(changed)} of {len(changes)} documents that change, and {len(left)} "
            f"of {len(refused)} that are left."
        )
    return {"action": action.value, "changes": changed, "refused": left}, cut


def _written_from(preview: ReviewPreview) -> str:
    """Which version a rewrite is to be passed on with."""
    if preview.action is not ReviewAction.REWRITE or not preview.changes:
        return ""
    return f" With the rewrite pass base_version {preview.changes[0].version}."


_NOT_DONE: dict[Consented, str] = {
    "not_needed": "Nothing was changed. Tell the curator what would be; when they agree, call again without preview.",
    "cannot_be_asked": "Nothing was changed. Tell the curator what would be done; when they say yes, call again with "
    "confirm.",
    "declined": "Nothing was changed: the curator said no, or the client declined without asking. Ask in the "
    "conversation; only when they say yes, call again with confirm.",
    "cancelled": "Nothing was changed: the question was closed without an answer. Ask in the conversation; only when "
    "they say yes, call again with confirm.",
}
