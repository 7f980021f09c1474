"""What the two tools of ingestion share: the contract's form of an ingestion, and telling a client how far it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver import Context

from harry_mcp.domain.ingestions import Ingestion, IngestionRequest, IngestionState
from harry_mcp.server.moments import moment
from harry_mcp.server.schemas import IngestionReply, ProblemReply
from harry_mcp.settings import Settings

_LONGEST = 300  # characters of a reason: servers and files write them, and a reply must stay short


def ingestion_reply(found: Ingestion, settings: Settings) -> IngestionReply:
    from harry_mcp.ingest.requests import planned  # heavy, and loaded by now: the first message must not wait for it

    request = IngestionRequest(
        source=found.source, crawl=found.crawl, topic=found.topic, pages=found.pages, prefix=found.prefix
    )
    told = found.failed + found.gone + (found.refused if found.crawl else 0)
    return IngestionReply(
        ingestion_id=found.id,
        state=found.state.value,
        source=found.source,
        plan=planned(request, settings),
        topic=found.topic,
        attempts=found.attempts,
        done=found.done,
        total=found.total,
        doing=found.doing[:_LONGEST],
        new=found.new,
        changed=found.changed,
        unchanged=found.unchanged,
        duplicates=found.duplicates,
        gone=found.gone,
        refused=found.refused,
        failed=found.failed,
        chunks=found.chunks,
        problems=[
            ProblemReply(kind=each.kind, source=each.source[:_LONGEST], reason=each.reason[:_LONGEST])
            for each in found.problems
        ],
        problems_omitted=max(0, told - len(found.problems)) if found.problems else 0,
        warnings=[warning[:_LONGEST] for warning in found.warnings[:10]],
        spent_dollars=round(found.spent, 4),
        error=found.error[: 2 * _LONGEST],
        started_at=moment(found.started_at),
        updated_at=moment(found.updated_at),
        finished_at=moment(found.finished_at),
        next_step=_next_step(found),
    )


def watch_of(ctx: Context[Any]) -> Callable[[Ingestion], Awaitable[None]]:
    """Tells the client how far an ingestion is, when it asked to be told and there is something new."""
    last = -1

    async def watch(found: Ingestion) -> None:
        nonlocal last
        if found.done > last:
            last = found.done
            total = float(found.total) if found.total >= found.done else None
            await ctx.report_progress(float(found.done), total, found.doing[:_LONGEST] or None)

    return watch


def _next_step(found: Ingestion) -> str:
    if found.state is IngestionState.RUNNING:
        return "It goes on in the background. Call ingestion_status with this ingestion_id in a minute."
    if found.state is IngestionState.INTERRUPTED:
        return "Its process ended before it. Call ingest_source with the same source again; it goes on where it was."
    if found.state is IngestionState.FAILED:
        return "Tell the user the error. When it is mended, call ingest_source again; what was stored stays."
    if found.problems or found.warnings:
        return "search_kb finds the documents now. Tell the user the problems and warnings."
    return "search_kb finds the documents now."
