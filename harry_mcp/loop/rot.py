"""The checks that find rotting documents: each a job of its own, run one at a time across all processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from harry_mcp.domain.rot import CheckReport, CheckState, RotReport, RotSignal
from harry_mcp.errors import DatabaseUnavailable, HarryError
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.settings import CurateSection
from harry_mcp.stages.curate.checking import CheckRun
from harry_mcp.stages.curate.judging import FactJudge
from harry_mcp.stages.curate.signals import contradiction, dead_source, feedback, stale
from harry_mcp.stages.curate.signals.dead_source import SourceProbe
from harry_mcp.storage.database import Database

# Days of decisions that a signal's precision is told from.
_TRACK_DAYS = 90


class RotFlow(OnDatabase):
    """Runs checks. ``clock`` says which day it is, in UTC."""

    def __init__(
        self,
        settings: CurateSection,
        database: Database,
        judge: FactJudge,
        probe: SourceProbe,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(database)
        self._settings = settings
        self._judge = judge
        self._probe = probe
        self._clock = clock

    @healed
    async def run(
        self, signals: Sequence[RotSignal] = (), *, actor: str = "job:rot", seconds: float = 0.0
    ) -> RotReport:
        """Run the checks of these signals (none: all of them) beside one another, and tell what each did.

        ``seconds`` 0 takes the setting. What a check does not come to in that time is left, and named in its report; it
        goes on with it when it is run again. One that fails is told with its error and stops no other.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached; what was found before is stored.
        """
        until = time.monotonic() + (seconds or self._settings.run_seconds)
        wanted = list(dict.fromkeys(RotSignal(signal) for signal in signals)) or list(RotSignal)
        # Not a TaskGroup: when PostgreSQL goes, every check ends by itself, and the first one's error is raised.
        reports = await asyncio.gather(*(self._one(signal, actor, until) for signal in wanted))
        return RotReport(tuple(reports))

    async def _one(self, signal: RotSignal, actor: str, until: float) -> CheckReport:
        started = time.monotonic()
        report = CheckReport(signal=signal)
        run = CheckRun(
            database=self._database,
            settings=self._settings,
            report=report,
            actor=actor,
            now=self._clock(),
            until=until,
        )
        try:
            async with self._database.session() as unit:
                if not await unit.signals.try_lock(signal.value):
                    report.state = CheckState.BUSY
                    return report
                await self._check(run)
                report.track = await unit.signals.track(signal.value, _TRACK_DAYS)
        except DatabaseUnavailable:
            raise
        except HarryError as error:
            report.state, report.error = CheckState.FAILED, str(error)
        if report.state is CheckState.DONE and report.left > 0:
            report.state = CheckState.PARTIAL
        report.seconds = time.monotonic() - started
        return report

    def _check(self, run: CheckRun) -> Awaitable[None]:
        match run.report.signal:
            case RotSignal.STALE:
                return stale.check(run)
            case RotSignal.CONTRADICTION:
                return contradiction.check(run, self._judge)
            case RotSignal.DEAD_SOURCE:
                return dead_source.check(run, self._probe)
            case RotSignal.NEGATIVE_FEEDBACK:
                return feedback.check(run)
