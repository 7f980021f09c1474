"""The contract of the checks for rot. The rules of ``schemas`` hold: no null, no union, no reference."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SignalName = Literal["stale", "contradiction", "dead_source", "negative_feedback"]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ExampleReply(_Reply):
    """A document that a check spoke against."""

    document_id: str = Field(description="For read_document and review_documents.")
    title: str = Field(description="Its title.")
    why: str = Field(description="Why, in half a sentence.")


class CheckReply(_Reply):
    """What one check did."""

    signal: SignalName = Field(description="The check.")
    state: Literal["done", "partial", "busy", "failed"] = Field(
        description="done; partial: time ran out, call again; busy: another process runs it; failed: see error."
    )
    examined: int = Field(description="Documents looked at; for dead_source, addresses asked.")
    left: int = Field(description="How many are due and were not come to.")
    skipped: int = Field(description="Addresses that may not be asked, and so are never checked; see note.")
    note: str = Field(description="Why addresses were skipped, and which setting lets them be asked; or empty.")
    flagged: int = Field(description="Documents that were live and are flagged now.")
    logged: int = Field(description="Signals added to documents that were flagged already, or that readers do not see.")
    known: int = Field(description="Findings that were on record already and changed nothing.")
    counts: dict[str, int] = Field(description="The check's own figures by name.")
    examples: list[ExampleReply] = Field(description="At most 10 of the documents.")
    confirmed: int = Field(description="Its flags of 90 days that a curator bore out: archived, rejected, rewritten.")
    dismissed: int = Field(description="Its flags of 90 days that a curator dismissed by approving the document.")
    waiting: int = Field(description="Its flags of 90 days that nobody decided yet.")
    precision: float = Field(description="confirmed of confirmed and dismissed, 0 to 1; -1 before anybody decided.")
    error: str = Field(description="Why it failed, or empty.")
    seconds: float = Field(description="How long it ran.")


class RotReply(_Reply):
    """The result of run_rot_checks."""

    checks: list[CheckReply] = Field(description="One for each check that was asked for.")
    flagged: int = Field(description="Documents newly flagged by all of them.")
    next_step: str = Field(description="What to do now, in a sentence or two.")
