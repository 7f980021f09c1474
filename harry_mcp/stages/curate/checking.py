"""What every check of documents gets to work with."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from harry_mcp.domain.rot import CheckReport, Example
from harry_mcp.errors import NotFoundError
from harry_mcp.settings import CurateSection
from harry_mcp.stages.curate.flag import flag_rot
from harry_mcp.storage.database import Database
from harry_mcp.storage.unit_of_work import UnitOfWork

_MOST_EXAMPLES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """One run of a check. ``now`` is the moment that it counts days from, ``until`` (of the monotonic clock) when it
    must end; what it does not come to is left for the next run."""

    database: Database
    settings: CurateSection
    report: CheckReport
    actor: str
    now: datetime
    until: float

    @property
    def late(self) -> bool:
        return time.monotonic() >= self.until

    async def flag(
        self, unit: UnitOfWork, document: tuple[str, str], detail: Mapping[str, object], *, evidence: str, why: str
    ) -> None:
        """Flag a document (id and title) for the signal of this check, and count what became of it."""
        document_id, title = document
        report = self.report
        try:
            made = await flag_rot(
                unit, document_id, report.signal, actor=self.actor, detail=detail, evidence=evidence, now=self.now
            )
        except NotFoundError:
            report.count("removed_meanwhile")
            return
        if made.flagged:
            report.flagged += 1
        elif made.logged:
            report.logged += 1
        else:
            report.known += 1
        if made.logged and len(report.examples) < _MOST_EXAMPLES:
            report.examples.append(Example(document_id, title, why))
