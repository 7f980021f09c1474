"""When the jobs run, and what is done when one fails or its worker dies."""

from __future__ import annotations

from pydantic import Field, field_validator

from harry_mcp.settings.section import Positive, Section

OFF = "off"
_CRON = "In UTC, as minute, hour, day, month and weekday; `off`: only by `harry jobs run`."


class JobsSection(Section):
    """The schedule that ``harry worker`` works, and how."""

    rot_stale: str = Field(
        default="10 2 * * *", description=f"When old pages that are asked about are flagged. {_CRON}"
    )
    rot_contradiction: str = Field(
        default="30 2 * * *", description=f"When changed documents are held against others. {_CRON}"
    )
    rot_dead_source: str = Field(
        default="0 3 * * *",
        description=f"When the addresses of documents are asked. Less than daily and a dead page is seen late, for "
        f"unclear answers need several days. {_CRON}",
    )
    rot_feedback: str = Field(
        default="20 * * * *", description=f"When complaints that came in meanwhile flag their documents. {_CRON}"
    )
    digest: str = Field(default="0 6 * * *", description=f"When the digest is made and mailed, once a day. {_CRON}")
    retention: str = Field(default="50 3 * * *", description=f"When records that are too old are removed. {_CRON}")
    backfill: str = Field(default="5 * * * *", description=f"When memories that have no vector are embedded. {_CRON}")
    age_corrections: str = Field(
        default="40 3 * * *",
        description=f"When corrections that nobody needs any more are given up. Off, they pile up. {_CRON}",
    )
    keep_days: int = Field(
        default=365,
        ge=0,
        description="Days that searches, with their lines of the gap log, and lookups are kept: people's questions. At "
        "least 60, else rot signals and digests lack them. 0 keeps all for good.",
    )
    retries: int = Field(
        default=4, ge=0, le=20, description="Times that a failed job is tried again. 0 loses a day to a hiccup."
    )
    retry_pause: float = Field(
        default=60.0, gt=0, description="Seconds before it is, doubled for each more, an hour at most. Less hammers."
    )
    catch_up_hours: float = Field(
        default=12.0,
        gt=0,
        description="A job that was missed because no worker ran is made up for within these hours.",
    )
    at_once: Positive = Field(default=2, description="Different jobs that one worker runs at a time.")
    heartbeat: float = Field(
        default=10.0, gt=0, description="Seconds between two signs of life of a worker, and two looks for dead ones."
    )
    stalled: float = Field(
        default=60.0,
        gt=0,
        description="Seconds without a sign of life after which a worker counts as dead and its jobs are taken over. "
        "Fewer take a busy one for dead; the work is not done twice even so.",
    )
    grace: float = Field(
        default=20.0,
        ge=0,
        description="Seconds that a worker which is told to end lets its jobs go on; what is cut off is put back. "
        "Supervisors kill after 30 as a rule.",
    )

    @field_validator("keep_days")
    @classmethod
    def _long_enough(cls, value: int) -> int:
        if 0 < value < 60:
            raise ValueError("it must be 0 or at least 60")
        return value

    def schedule(self, job: str) -> str:
        """The schedule of a job, or empty when it is off."""
        value = str(getattr(self, job)).strip()
        return "" if value.lower() == OFF else value
