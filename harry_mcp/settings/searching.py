"""The stages of a search, and the size of its answer. Where 0.60 is."""

from __future__ import annotations

from pydantic import Field

from harry_mcp.settings.section import Fraction, Positive, Section


class RetrieveSection(Section):
    """Stage 1: which passages are looked at."""

    k: int = Field(default=5, ge=1, le=50, description="Hits in an answer when the caller names no number.")
    leg_candidates: int = Field(
        default=50,
        ge=10,
        le=500,
        description="Passages each leg, keyword and vector, hands on. Fewer lose right answers.",
    )
    vector_floor: Fraction = Field(
        default=0.45, description="Cosine under which the vector leg finds nothing. Higher loses paraphrases."
    )
    vector_at_least: int = Field(
        default=5,
        ge=0,
        description="Nearest passages that the floor never takes away. With 0, short questions lose right answers.",
    )
    rrf_k: Positive = Field(
        default=60, description="The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."
    )
    query_characters: int = Field(
        default=400, ge=50, le=2000, description="Longer questions are cut at a word; the model reads no more."
    )
    near_duplicate: Fraction = Field(
        default=0.9,
        description="Share of common words from which two passages count as one. Lower hides real variants.",
    )


class RankSection(Section):
    """Stage 2: what a score means."""

    candidates: int = Field(default=20, ge=5, le=100, description="Passages that are ranked and may become hits.")
    strong: Fraction = Field(
        default=0.60,
        description="From here the agent answers from the knowledge base. Lower lets wrong answers through.",
    )
    moderate: Fraction = Field(
        default=0.45, description="From here the passages are worth weighing; under it the agent goes to the web."
    )


class ReplySection(Section):
    """How large an answer may be. Hosts cut replies off at about 25,000 tokens, some far earlier."""

    text_characters: int = Field(
        default=20_000, ge=2000, le=100_000, description="Characters of passages in one reply, about 6,000 tokens."
    )
    document_characters: int = Field(
        default=16_000, ge=1000, le=100_000, description="Characters of one page of `read_document`."
    )
    question_characters: int = Field(
        default=8_000, ge=400, le=100_000, description="A longer question is refused with advice, not cut in silence."
    )
