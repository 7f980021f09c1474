"""COR-11, CUR-10: the job that gives stale corrections up, with what it did on record."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.corrections import CorrectionStatus
from harry_mcp.jobs.catalogue import find
from harry_mcp.jobs.running import run_job
from tests.loop.small_base import ANN, filled, page
from tests.loop.test_ageing import LIMIT, OLD
from tests.storage.recount import rows


@pytest.mark.promise("COR-11")
@pytest.mark.promise("CUR-10")
async def test_the_job_gives_up_what_is_stale_and_says_why(app: App, connection: AsyncConnection[Any]) -> None:
    await filled(app)
    await app.loop.submit_correction(OLD, ANN)
    await connection.execute(b"UPDATE corrections SET updated_at = now() - interval '200 days'")
    await app.loop.submit_correction(LIMIT, ANN)
    await app.ingester.ingest([page("Rate limits", "The API allows 900 requests a minute; above that it answers 429.")])
    job = find("age_corrections")
    report = await run_job(app, job)
    assert report
    assert report.figures == {"given_up": 2, "page_agrees": 1, "unused": 1}
    for lesson in (OLD, LIMIT):
        assert (await app.loop.corrections.get(lesson.id)).status is CorrectionStatus.DEPRECATED
    again = await run_job(app, job)
    assert again
    assert again.figures == {"given_up": 0, "page_agrees": 0, "unused": 0}
    assert await rows(connection, "SELECT job, state, summary FROM job_runs ORDER BY id") == [
        ("age_corrections", "done", "2 corrections given up, 1 of them because their page says it now"),
        ("age_corrections", "done", "0 corrections given up, 0 of them because their page says it now"),
    ]
