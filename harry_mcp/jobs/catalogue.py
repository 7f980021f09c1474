"""Which jobs there are."""

from __future__ import annotations

from harry_mcp.errors import NotFoundError
from harry_mcp.jobs import (
    age_corrections,
    backfill,
    digest,
    retention,
    rot_contradiction,
    rot_dead_source,
    rot_feedback,
    rot_stale,
)
from harry_mcp.jobs.job import Job

JOBS: tuple[Job, ...] = (
    rot_stale.JOB,
    rot_contradiction.JOB,
    rot_dead_source.JOB,
    rot_feedback.JOB,
    digest.JOB,
    retention.JOB,
    backfill.JOB,
    age_corrections.JOB,
)


def find(name: str) -> Job:
    """The job of a name.

    Raises:
        NotFoundError: there is none.
    """
    for job in JOBS:
        if job.name == name:
            return job
    raise NotFoundError(f"There is no job {name[:80]!r}. The jobs are: {', '.join(job.name for job in JOBS)}.")
