"""Runs and curves in the user's own database, where the next run finds them."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harry_mcp.domain.calibration import Calibration
from harry_mcp.domain.search import Band
from harry_mcp.errors import EvalError, InputError, NotFoundError
from harry_mcp.evals import figures as figure_values
from harry_mcp.evals.answers import Answer, Stage
from harry_mcp.providers.factory import build_embedder
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.eval_runs import EvalRun

# What decides the figures. Addresses, keys and caches do not, and what is stored can be shown to anyone.
_SECTIONS = ("retrieve", "rank", "search")
_OF_INGEST = (
    "chunking",
    "chunk_characters",
    "chunk_minimum",
    "chunk_maximum",
    "semantic_percentile",
    "semantic_neighbours",
)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The stored curves and runs."""

    database: Database

    async def curves(self) -> list[Calibration]:
        """The curve that holds for each ranker."""
        async with self.database.reading() as unit:
            newest_first = await unit.calibrations.list()
        return list({curve.ranker: curve for curve in reversed(newest_first)}.values())

    async def all_curves(self) -> list[Calibration]:
        async with self.database.reading() as unit:
            return await unit.calibrations.list()

    async def save_curve(self, calibration: Calibration) -> None:
        async with self.database.transaction() as unit:
            await unit.calibrations.save(calibration)

    async def last(self, golden: str) -> EvalRun | None:
        """The newest run of a golden set whose gates held."""
        async with self.database.reading() as unit:
            run = await unit.eval_runs.last(golden)
        return _in_order(run) if run else None

    async def save(self, run: EvalRun) -> None:
        async with self.database.transaction() as unit:
            await unit.eval_runs.save(run)

    async def recent(self, limit: int) -> list[EvalRun]:
        async with self.database.reading() as unit:
            return [_in_order(run) for run in await unit.eval_runs.recent(limit)]

    async def get(self, run_id: str) -> EvalRun:
        """A run by its id.

        Raises:
            NotFoundError: there is none.
        """
        async with self.database.reading() as unit:
            run = await unit.eval_runs.get(run_id)
        if run is None:
            raise NotFoundError(f"There is no run {run_id!r}; `harry eval list` shows them.")
        return _in_order(run)


@asynccontextmanager
async def shelf(settings: Settings) -> AsyncGenerator[Shelf, None]:
    """The user's database, whichever embedding model it is on: nothing of it is searched.

    Raises:
        StorageError: it cannot be used as it is.
    """
    database = await Database.open(settings, build_embedder(settings).space, any_space=True)
    try:
        yield Shelf(database)
    finally:
        await database.close()


def new_run(
    name: str,
    golden: str,
    settings: Settings,
    figures: Mapping[str, Any],
    *,
    accepted: bool,
    also: Sequence[str] = (),
) -> EvalRun:
    """A run to be kept, now. ``also`` names more sections of the settings that decide its figures."""
    return EvalRun(
        id="run_" + secrets.token_hex(5),
        name=name,
        golden=golden,
        settings=what_matters(settings, figures, also),
        figures=dict(figures),
        accepted=accepted,
        created_at=datetime.now(UTC),
    )


def _in_order(run: EvalRun) -> EvalRun:
    """The same with stages, figures and bands in the order of the ladder, which the database does not keep. Weeks of
    use, which have no ladder, stay as they are."""
    if "retrieval" not in run.figures:
        return run
    retrieval, verdict = run.figures["retrieval"], run.figures["verdict"]
    rungs = {
        stage.value: {name: retrieval[stage][name] for name in figure_values.MEASURES if name in retrieval[stage]}
        for stage in Stage
        if stage in retrieval
    }
    bands = {band.value: verdict["bands"][band] for band in Band}
    return replace(run, figures={**run.figures, "retrieval": rungs, "verdict": {**verdict, "bands": bands}})


def what_matters(settings: Settings, figures: Mapping[str, Any], also: Sequence[str] = ()) -> dict[str, Any]:
    """The settings and parts that decide the figures."""
    parts = ("embeddings", "contexts", "relevance_source", "postgres")
    sections = {name: getattr(settings, name).model_dump(mode="json") for name in (*_SECTIONS, *also)}
    sections["ingest"] = settings.ingest.model_dump(mode="json", include=set(_OF_INGEST))
    return {name: figures[name] for name in parts} | sections


def answers(figures: Mapping[str, Any]) -> list[Answer]:
    """The answers that stored figures were made of."""
    return [Answer.model_validate(row) for row in figures["per_question"]]


def read_baseline(path: Path) -> EvalRun:
    """An earlier run from the output of ``harry eval run --json``, for machines that keep no database.

    Raises:
        InputError: the file is none.
    """
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        run = data["run"]
        found = EvalRun(
            id=run["id"],
            name=run["name"],
            golden=run["golden"],
            settings=run["settings"],
            figures=data,
            accepted=True,
            created_at=datetime.fromisoformat(run["created_at"]),
        )
        answers(found.figures)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no output of `harry eval run --json`.") from error
    return found


def same_set(run: EvalRun, golden: str) -> None:
    """Refuse to compare runs of two golden sets.

    Raises:
        EvalError: they are of two.
    """
    if run.golden != golden:
        raise EvalError(f"The run {run.id} is of another golden set than this one ({run.name}); only like is compared.")
