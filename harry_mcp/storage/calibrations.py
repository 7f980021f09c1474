"""The curves that say what a ranker's raw scores mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.domain.calibration import Calibration
from harry_mcp.storage import queries

_SQL = queries.load("calibrations")


class Calibrations:
    """The curves as one connection sees them."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def of(self, ranker: str) -> Calibration | None:
        """The newest curve of exactly this ranker; another's never serves for it."""
        row = await queries.one(self._connection, _SQL["of"], Calibration, {"ranker": ranker})
        return _tupled(row) if row else None

    async def list(self) -> list[Calibration]:
        """Every curve, the newest first."""
        return [_tupled(row) for row in await queries.many(self._connection, _SQL["all"], Calibration)]

    async def save(self, calibration: Calibration) -> None:
        """Keep a curve, which holds for its ranker from then on."""
        columns = {name: getattr(calibration, name) for name in Calibration.__slots__}
        columns |= {"raw": list(calibration.raw), "chance": list(calibration.chance)}
        await queries.run(self._connection, _SQL["save"], columns)

    async def delete(self, calibration_id: str) -> bool:
        """Forget a curve; false when there was none of that id."""
        return await queries.run(self._connection, _SQL["delete"], {"id": calibration_id}) > 0


def _tupled(row: Calibration) -> Calibration:
    """The arrays as the tuples that they are in the domain; the row brings lists."""
    return replace(row, raw=tuple(row.raw), chance=tuple(row.chance))
