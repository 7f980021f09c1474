"""What a job is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from harry_mcp.app import App
from harry_mcp.domain.jobs import JobReport


@dataclass(frozen=True, slots=True)
class Job:
    """Work under a name, which is also the name of its schedule in the settings.

    ``run`` may be ended at any moment and begun anew: what it does twice has the effect of once.
    """

    name: str
    title: str
    run: Callable[[App], Awaitable[JobReport]]
