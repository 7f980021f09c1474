"""How documents are reviewed: the order of the queue, how long an act can be undone, what is asked before it."""

from __future__ import annotations

from pydantic import Field

from harry_mcp.settings.section import Positive, Section


class ReviewSection(Section):
    """Stage 5: what curators do with documents."""

    undo_days: Positive = Field(
        default=7,
        description="Days in which an action can be undone. More keep what rewrites replaced longer in reach.",
    )
    most: int = Field(
        default=100,
        ge=1,
        le=1000,
        description="Documents of one action at most. More hold up writers for longer, for it is one transaction.",
    )
    use_days: Positive = Field(
        default=30, description="Days of searches that count as the use of a document. Fewer forget seasonal pages."
    )
    heavy_use: Positive = Field(
        default=20,
        description="Answers that a document was among the first of, from which even a single archiving or rewrite is "
        "asked about first. Higher lets an agent take away what many read.",
    )
    weight_use: float = Field(
        default=1.0, ge=0, description="What each doubling of the use adds to the harm that orders the queue."
    )
    weight_signal: float = Field(
        default=2.0,
        ge=0,
        description="What each different open signal adds to it. Too low hides what several checks agree on.",
    )
    weight_age: float = Field(
        default=2.0, ge=0, description="What the full age adds to it. Too high puts old and right pages first."
    )
    full_age_days: Positive = Field(
        default=365, description="Days since the last change at which a document counts as fully old."
    )
    preview_questions: int = Field(
        default=20,
        ge=0,
        le=200,
        description="Past questions that a preview asks anew. More take longer, and writers wait meanwhile. 0: none.",
    )
    preview_recent: int = Field(
        default=100,
        ge=0,
        le=2000,
        description="Recent different questions among which it looks for those that a draft is about. Each is embedded "
        "once.",
    )
    preview_floor: float = Field(
        default=0.45,
        ge=-1,
        le=1,
        description="Cosine from which a question counts as one that a draft is about. Lower asks many in vain.",
    )
    preview_seconds: float = Field(
        default=3.0,
        gt=0,
        le=20,
        description="Seconds in which it asks them; those left over are counted and not asked.",
    )
