"""The stages of a search, and the size of its answer. Where 0.60 is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harry_mcp.settings.section import Fraction, Positive, Section


class SearchSection(Section):
    """The search as a whole: how long it may take, and what models may add to it."""

    deadline: float = Field(
        default=4.0,
        ge=0.5,
        le=60,
        description="Seconds within which a search answers, whatever the providers do. What was not ready is left out "
        "and named. Longer makes users wait on an outage; hosts give up after about 30.",
    )
    rewrite_budget: float = Field(
        default=1.0,
        ge=0,
        description="Seconds a model may take to make a follow-up question stand alone; then names are carried over "
        "from the conversation. 0 never asks the model.",
    )
    hyde: Literal["auto", "off"] = Field(
        default="auto",
        description="Whether a model writes a hypothetical answer that is searched for too: `auto` where there is one. "
        "It costs a call to the small model for each new question.",
    )
    hyde_budget: float = Field(
        default=1.2,
        gt=0,
        description="Seconds for the hypothetical answer. Fewer leave it out more often; more make searches slower.",
    )
    embed_budget: float = Field(
        default=1.5,
        gt=0,
        description="Seconds for the embedding of a question. Beyond it the search goes on with keywords alone.",
    )
    corrective: bool = Field(
        default=False,
        description="Whether a search that is not strong is asked once more in other words, by the model. "
        "It costs time and money; it pays where users do not know the words of the documents.",
    )
    cache: int = Field(
        default=512,
        ge=0,
        description="Hypothetical answers, rewritten questions and rerank scores kept in memory, each. 0 keeps none.",
    )


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
    neighbours_of: int = Field(
        default=5,
        ge=0,
        le=50,
        description="The passages before and after so many of the best ones are ranked too. With 0, the other half of "
        "an answer that was cut in two is missed.",
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
    reranker: Literal["auto", "local", "claude", "voyage"] = Field(
        default="auto",
        description="Who scores the passages: `auto` is Claude where there is ANTHROPIC_API_KEY, else local. "
        "Fit the scores of another one with `harry eval calibrate`; until then it orders only.",
    )
    budget: float = Field(
        default=2.0,
        gt=0,
        description="Seconds for the re-ranking model. Beyond it the call is cancelled and the local order stands.",
    )
    passage_characters: int = Field(
        default=1500,
        ge=200,
        description="Characters of each passage that the re-ranking model reads. Fewer are cheaper.",
    )
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
