"""The audit log and the gaps: from storage to the contract, and to the same facts as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harry_mcp.domain.plain import sanitised
from harry_mcp.server.fencing import fenced
from harry_mcp.server.moments import moment
from harry_mcp.server.schemas_review import AuditEntryReply, AuditReply, GapReply, GapsReply, WebResultReply

if TYPE_CHECKING:  # the server imports this module before its first answer
    from harry_mcp.storage.audit import AuditRow
    from harry_mcp.storage.gaps import ListedGap

_TITLE = 200
_LINE = 400
_RESULTS = 3


def entry_reply(row: AuditRow) -> AuditEntryReply:
    return AuditEntryReply(
        at=moment(row.created_at),
        actor=sanitised(row.actor, _TITLE),
        role=row.role,
        action=row.action,
        target_kind=row.target_kind,
        target_id=row.target_id,
        target=sanitised(row.target, _TITLE),
        reason=sanitised(row.reason, _LINE),
        action_id=row.action_id,
        detail=sanitised(", ".join(f"{name}: {value}" for name, value in row.detail.items()), _LINE),
    )


def audit_text(reply: AuditReply) -> str:
    lines = [
        f"{each.at} {each.actor} ({each.role}): {each.action} {each.target_kind} {each.target_id} {each.target}"
        + (f", because {each.reason}" if each.reason else "")
        + (f"; {each.detail}" if each.detail else "")
        + (f"; {each.action_id}" if each.action_id else "")
        for each in reply.entries
    ]
    return fenced("audit", [f"{len(reply.entries)} entries. {reply.next_step}"], lines)


def gap_reply(gap: ListedGap) -> GapReply:
    web, results = _web(gap.web_results)
    return GapReply(
        gap_id=gap.id,
        question=sanitised(gap.question, _LINE),
        topic=sanitised(gap.topic, _TITLE),
        occurrences=gap.occurrences,
        best_score=round(gap.best_score, 4),
        first_seen_at=moment(gap.first_seen_at),
        last_seen_at=moment(gap.last_seen_at),
        web=web,
        web_results=results,
        next_step=_NEXT[web],
    )


def gaps_text(reply: GapsReply) -> str:
    lines: list[str] = []
    for gap in reply.gaps:
        about = f" [{gap.topic}]" if gap.topic else ""
        lines.append(
            f"{gap.gap_id}{about} asked {gap.occurrences} times, best score {gap.best_score:.2f}, first "
            f"{gap.first_seen_at}, last {gap.last_seen_at}: {gap.question}"
        )
        lines += [f"  web {gap.web}", *(f"  - {each.title} <{each.url}>" for each in gap.web_results)]
        lines.append(f"  next: {gap.next_step}")
    return fenced("gaps", [f"{len(reply.gaps)} of {reply.total} gaps. {reply.next_step}"], lines)


_NEXT = {
    "not_asked": "Call web_fallback with the question; a page that answers it goes in by ingest_source.",
    "found": "Call ingest_source for a page of web_results that answers it, or web_fallback to read what it says.",
    "nothing": "The web has nothing either: submit_correction with what the curator knows, or ingest_source for a "
    "document that answers it.",
    "failed": "Call web_fallback again later, or ingest_source for a document that answers it.",
}


def _web(stored: dict[str, Any] | None) -> tuple[Any, list[WebResultReply]]:
    if stored is None:
        return "not_asked", []
    results = [
        WebResultReply(title=sanitised(str(each.get("title", "")), _TITLE), url=str(each.get("url", "")))
        for each in stored.get("results", [])[:_RESULTS]
    ]
    if results:
        return "found", results
    return ("nothing" if stored.get("status") == "empty" else "failed"), []
