"""The contract of the tool that opens the console. The rules of ``schemas`` hold: no null, no union, no reference."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ConsoleReply(BaseModel):
    """What waits, for whoever sees no page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shown: bool = Field(description="Whether this client said that it shows pages; else there is only this reply.")
    pending: int = Field(description="Drafts that wait for a decision; no search finds them.")
    flagged: int = Field(description="Documents that something speaks against; searches find them, with a caveat.")
    archived: int = Field(description="Documents that were taken out of every search, archived or rejected.")
    next_step: str = Field(description="What to do now.")
