"""When an official answer is served. Where 0.85 is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harry_mcp.settings.section import Fraction, Positive, Section


class VerifySection(Section):
    """Stage 3: verified responses, and what complaints do to them."""

    exact: Fraction = Field(
        default=0.85,
        description="Cosine of two questions from which a verified response is the official answer, if nothing speaks "
        "against it. Lower serves answers to other questions.",
    )
    partial: Fraction = Field(
        default=0.70, description="Cosine from which a verified response is given as context. Higher loses paraphrases."
    )
    degrade: Fraction = Field(
        default=0.30,
        description="Share of complaints, of uses and complaints, from which an exact match is only partial. "
        "Higher serves doubtful answers longer.",
    )
    retire: Fraction = Field(
        default=0.50, description="Share of complaints from which an entry is never served again. It is kept."
    )
    retire_negatives: Positive = Field(
        default=2, description="Complaints that an entry has at least before it retires. With 1, one click kills it."
    )
    wrong_bound: Fraction = Field(
        default=0.02,
        description="Share of wrong exact servings that an entry may have; beyond, it raises its own threshold. "
        "Higher learns slower from complaints.",
    )
    evidence_hits: int = Field(
        default=5,
        ge=0,
        description="A cited document must be among so many first documents of a search for the question, or the match "
        "is partial. 0 does not look.",
    )
    candidates: Positive = Field(default=5, description="Nearest entries that are looked at.")
    failure: Fraction = Field(
        default=0.80, description="Cosine from which a question that went wrong before is told as a warning."
    )
    failures: int = Field(default=3, ge=0, description="Past failures told at most.")
    approve: Literal["contributor", "curator", "admin"] = Field(
        default="curator",
        description="The role from which candidates may be approved. Lower lets praise publish itself.",
    )
