"""A knowledge base with a clock of its own, and the checks over it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.rot import CheckReport, RotSignal
from harry_mcp.ingest.probing import SourceProber
from harry_mcp.loop.rot import RotFlow
from harry_mcp.settings import CurateSection
from harry_mcp.stages.curate.judging import FactJudge

START = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)
# Nobody waits for anything in a test.
HASTY: dict[str, object] = {"probe_delay": 0.0, "probe_timeout": 5.0, "longest_wait": 0.0}


class Knowledge:
    """An app, and its checks on a day that the test sets."""

    def __init__(self, app: App, connection: AsyncConnection[Any], *, allow_private: bool = True) -> None:
        self.app = app
        self.connection = connection
        self.now = START
        self.allow_private = allow_private
        self.settings = CurateSection.model_validate(HASTY)

    def set(self, **settings: object) -> None:
        self.settings = CurateSection.model_validate({**self.settings.model_dump(), **settings})

    def later(self, **delta: float) -> None:
        self.now += timedelta(**delta)

    async def add(self, *documents: SourceDocument) -> None:
        outcome = await self.app.ingester.ingest(documents)
        assert not outcome.failed

    async def run(self, *signals: RotSignal, seconds: float = 60.0) -> list[CheckReport]:
        prober = SourceProber(
            self.settings, user_agent="tests/1", allow_private=self.allow_private, clock=lambda: self.now
        )
        judge = FactJudge(None, self.settings)
        flow = RotFlow(self.settings, self.app.database, judge, prober, clock=lambda: self.now)
        return list((await flow.run(signals, seconds=seconds)).checks)

    async def check(self, signal: RotSignal, seconds: float = 60.0) -> CheckReport:
        (report,) = await self.run(signal, seconds=seconds)
        return report

    async def flagged(self) -> list[str]:
        """The titles of the flagged documents."""
        return await self._titles("SELECT title FROM documents WHERE status = 'flagged' ORDER BY title")

    async def rows(self, query: Any, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        cursor = await self.connection.execute(query, parameters)
        return await cursor.fetchall()

    async def signals(self) -> list[tuple[str, str]]:
        """Document and signal of every flag in the log, in order."""
        return [
            (str(title), str(signal))
            for title, signal in await self.rows(
                "SELECT d.title, l.signal FROM kb_curation_log l JOIN documents d ON d.id = l.document_id"
                " WHERE l.event = 'flag' ORDER BY l.id"
            )
        ]

    async def detail(self, title: str) -> dict[str, Any]:
        """What the last flag of a document rests on."""
        found = await self.rows(
            "SELECT l.detail FROM kb_curation_log l JOIN documents d ON d.id = l.document_id"
            " WHERE l.event = 'flag' AND d.title = %s ORDER BY l.id DESC LIMIT 1",
            [title],
        )
        return dict(found[0][0])

    async def _titles(self, query: Any) -> list[str]:
        return [str(title) for (title,) in await self.rows(query)]
