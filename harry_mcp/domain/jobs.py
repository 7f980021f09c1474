"""Jobs: what a run of one did, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

Figure = int | float | str


class JobState(StrEnum):
    """How a run stands. ``partial``: it left something to the next run. ``stopped``: its worker was told to end.
    ``lost``: its process died in the middle."""

    RUNNING = "running"
    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReport:
    """What a run did: a sentence or two for a person, and figures by name for a script."""

    summary: str
    figures: Mapping[str, Figure] = field(default_factory=dict[str, Figure])
    partial: bool = False

    @property
    def state(self) -> JobState:
        return JobState.PARTIAL if self.partial else JobState.DONE


@dataclass(frozen=True, slots=True)
class JobRun:
    """A run on record. ``due_at`` is the moment of the schedule that it was for, None when somebody asked for it."""

    id: int
    job: str
    due_at: datetime | None
    state: str
    summary: str
    figures: dict[str, Figure]
    started_at: datetime
    finished_at: datetime | None

    @property
    def seconds(self) -> float:
        """How long it took, 0 while it runs."""
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else 0.0
