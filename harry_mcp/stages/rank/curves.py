"""Which fitted curve holds for a ranker now."""

from __future__ import annotations

import time
from collections.abc import Callable

from harry_mcp.domain.calibration import Calibration
from harry_mcp.storage.database import Database

# Seconds after which a curve that another process fitted is seen. Each search would else ask the database.
_FRESH = 30.0


class Curves:
    """The stored calibrations, each looked up now and then."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._kept: dict[str, tuple[float, Calibration | None]] = {}

    async def of(self, ranker: str) -> Calibration | None:
        """The newest curve of exactly this ranker, None when there is none.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        seen, curve = self._kept.get(ranker, (-_FRESH, None))
        if self._clock() - seen >= _FRESH:
            async with self._database.reading() as unit:
                curve = await unit.calibrations.of(ranker)
            self._kept[ranker] = (self._clock(), curve)
        return curve
