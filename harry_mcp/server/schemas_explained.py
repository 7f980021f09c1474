"""The contract of explain_search. The rules of ``schemas`` hold: no null, no union, no reference."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SeenReply(_Reply):
    """A passage of the past search, with what each stage said of it."""

    rank: int = Field(description="Its rank then, from 1.")
    rank_now: int = Field(description="Its rank today, 0 when it is not found any more.")
    title: str = Field(description="Title of its document, empty when that is gone.")
    document_id: str = Field(description="Its document.")
    document_status: str = Field(description="live, flagged, archived, pending or rejected today, or gone.")
    chunk_id: str = Field(description="The stored chunk.")
    score: float = Field(description="Calibrated chance then, 0 to 1.")
    cosine: float = Field(description="Cosine of meaning, -1 when it was not measured.")
    bm25: float = Field(description="BM25 keyword score.")
    keyword_rank: int = Field(description="Rank in the keyword leg, 0 when it was not found there.")
    vector_rank: int = Field(description="Rank in the vector leg, 0 when it was not found there.")
    rrf: float = Field(description="Reciprocal rank fusion: the order before ranking.")
    fusion: float = Field(description="Cosine plus keyword evidence: the order of the local ranker.")
    raw: float = Field(description="What a re-ranking model said, -1 when none read it.")


class OutcomeReply(_Reply):
    """The verdict of one search."""

    score: float = Field(description="Calibrated chance that the best hit answers, 0 to 1.")
    band: str = Field(description="strong, moderate or weak.")
    next_action: str = Field(description="What the agent was told to do.")
    relevance_source: str = Field(description="The ranker and calibration behind the scores.")
    degraded: list[str] = Field(description="Parts that were down or left out.")


class ExplainReply(_Reply):
    """The result of explain_search."""

    search_id: str = Field(description="The past search.")
    asked_at: str = Field(description="When, ISO 8601, UTC.")
    question: str = Field(description="The question, made to stand alone.")
    query: str = Field(description="What was searched for.")
    course: dict[str, str] = Field(
        description="What was done beyond the plain search: asked (the question as it came), also_searched (the "
        "other way of asking it), found_by (the way whose passages are shown, where that is not the question), "
        "hypothetical (a made-up answer that was searched for), other_words (a second try)."
    )
    filters: dict[str, str] = Field(description="What narrowed it.")
    then: OutcomeReply = Field(description="The verdict then.")
    now: OutcomeReply = Field(description="What the same question brings today.")
    changed: list[str] = Field(description="What is different today, in sentences.")
    passages: list[SeenReply] = Field(description="What was found then, best first, at most 20.")
    found_now: list[str] = Field(description="Titles that today's search finds, best first, at most 5.")
    corrections: list[str] = Field(description="Corrections that went into the answer: id and lesson.")
    corrections_now: list[str] = Field(description="Those that go into it today.")
    verified: str = Field(description="The official answer that came with it and how far it matched, or empty.")
    verified_now: str = Field(description="The one that comes with it today, or empty.")
    gap_id: str = Field(description="The gap that it opened or counted up, or empty.")
    timings_ms: dict[str, float] = Field(description="Milliseconds for each stage then.")
