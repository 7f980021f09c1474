"""Negative feedback: somebody said that a document is wrong, by a thumbs down or by a correction that names it.

Both flag at once, where they are submitted. The job makes good what was missed: a complaint about an address under
which a document stood that nobody had matched then.
"""

from __future__ import annotations

from harry_mcp.domain.rot import RotSignal
from harry_mcp.stages.curate.checking import CheckRun
from harry_mcp.storage.signals import Complaint
from harry_mcp.storage.unit_of_work import UnitOfWork

SIGNAL = RotSignal.NEGATIVE_FEEDBACK
# Days that the job looks back: it runs daily, and may have been off for a while.
_DAYS = 30


def saying(kind: str, number: str, author: str) -> str:
    """The evidence that a document is flagged for: somebody's feedback, or correction. Each author counts once."""
    return f"{sayings(kind, number)}{author}"


def sayings(kind: str, number: str) -> str:
    """How the evidence of one correction or verdict begins, whoever says it."""
    return f"{kind}:{number}:"


async def check(run: CheckRun) -> None:
    """Flag the documents behind complaints of the last days that stand as they were complained about."""
    async with run.database.reading() as unit:
        complaints = await unit.signals.complaints(days=_DAYS, now=run.now)
    for place, complaint in enumerate(complaints):
        if run.late:
            run.report.left = len(complaints) - place
            break
        run.report.examined += 1
        async with run.database.transaction() as unit:
            await _one(run, unit, complaint)


async def _one(run: CheckRun, unit: UnitOfWork, complaint: Complaint) -> None:
    for document in await unit.signals.addressed(complaint.urls):
        if document.updated_at > complaint.at:  # another text by now
            run.report.count("changed_since")
            continue
        detail, evidence = _detail(complaint), saying(complaint.kind, complaint.id, complaint.author)
        why = f"{complaint.author} said so ({complaint.id})"
        await run.flag(unit, (document.id, document.title), detail, evidence=evidence, why=why)


def _detail(complaint: Complaint) -> dict[str, object]:
    if complaint.kind == "correction":
        return {"correction_id": complaint.id, "comment": complaint.comment}
    return {"feedback_id": complaint.id, "reason": complaint.reason, "comment": complaint.comment}
