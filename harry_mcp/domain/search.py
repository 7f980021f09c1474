"""What travels through a search, stage by stage, and what comes out of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from harry_mcp.domain.corrections import Relevant
from harry_mcp.domain.feedback import PastFailure
from harry_mcp.domain.plain import folded
from harry_mcp.domain.verified import Match, VerifiedMatch

if TYPE_CHECKING:  # the server imports this module before its first answer, and numpy takes its time
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilters:
    """Narrows a search. Empty fields do not narrow."""

    topic: str = ""
    source: str = ""
    language: str = ""
    updated_since: datetime | None = None

    @property
    def any(self) -> bool:
        return bool(self.topic or self.source or self.language or self.updated_since)

    def as_json(self) -> dict[str, str]:
        since = self.updated_since.isoformat() if self.updated_since else ""
        fields = {
            "topic": self.topic,
            "source": self.source,
            "language": self.language,
            "updated_since": since,
        }
        return {name: value for name, value in fields.items() if value}

    @classmethod
    def from_json(cls, stored: Mapping[str, str]) -> SearchFilters:
        """The filters that :meth:`as_json` gave."""
        since = stored.get("updated_since", "")
        return cls(
            topic=stored.get("topic", ""),
            source=stored.get("source", ""),
            language=stored.get("language", ""),
            updated_since=datetime.fromisoformat(since) if since else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizedQuery:
    """A question made ready: ``text`` is embedded, ``keywords`` is what the keyword leg reads."""

    question: str
    text: str
    keywords: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    """Where a vector lives. Vectors of two spaces are never compared."""

    provider: str
    model: str
    dimension: int
    version: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model} ({self.dimension} dimensions, version {self.version})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusStatistics:
    """The counts that BM25 rests on, over searchable chunks. ``revision`` changes whenever any of them may.

    ``space_changed``: the knowledge base was moved to another embedding model than the one of this process.
    """

    chunks: int
    length_sum: int
    title_sum: int
    revision: int
    space_changed: bool = False

    @property
    def degraded(self) -> tuple[str, ...]:
        """What a search that rests on them lacks, by name."""
        return ("embedding_space_changed",) if self.space_changed else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerm:
    """One word of a question: the ids it has in the index (none when it is unknown) and how many chunks hold it."""

    ids: tuple[int, ...]
    df: int
    title_df: int


class Scored(NamedTuple):
    """One row of a leg: a chunk and its score there. A tuple, for a search makes some hundreds of them."""

    chunk_id: int
    score: float


class Candidate(NamedTuple):
    """A passage that a leg brought up, with every signal known of it.

    ``cosine`` is ``None`` while the query has no vector. ``keyword_rank`` and ``vector_rank`` count from 1 and are 0
    when that leg did not bring it. ``terms`` and ``title_terms`` are term ids in order, four bytes each, little
    endian. ``fusion`` is the local order; ``score`` is the calibrated chance that the passage answers. ``duplicates``
    are the public ids of passages that say all but the same, ``folded`` these themselves until their texts were
    compared, and ``denied_by`` the chunks of other documents that deny what this one says. ``local`` is the local
    ranker's own chance, before any curve that was fitted on top of it. ``raw`` is what re-ranking gave, 0 to 1 and not
    calibrated, -1 without it. A tuple and not a dataclass like its neighbours, for a search makes some hundreds of
    them.
    """

    chunk_id: int
    public_id: str
    document_id: str
    ordinal: int
    terms: bytes
    title_terms: bytes
    cosine: float | None = None
    bm25: float = 0.0
    keyword_rank: int = 0
    vector_rank: int = 0
    rrf: float = 0.0
    lexical: float = 0.0
    fusion: float = 0.0
    score: float = 0.0
    duplicates: tuple[str, ...] = ()
    raw: float = -1.0
    local: float = 0.0
    folded: tuple[Candidate, ...] = ()
    denied_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The stored text behind a candidate."""

    chunk_id: int
    public_id: str
    document_id: str
    ordinal: int
    heading_path: Sequence[str]
    raw_content: str
    contextual_content: str
    span_start: int
    span_end: int
    title: str
    url: str
    source: str
    topic: str
    language: str
    status: str
    updated_at: datetime
    caveats: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What stage 1 hands on: candidates in fused order, the question's words, and the counts at that moment.

    ``hypothetical`` is the made-up answer that was searched for beside the question, or empty. ``vector`` is the
    question's, None when it has none.
    """

    candidates: tuple[Candidate, ...]
    terms: tuple[QueryTerm, ...]
    statistics: CorpusStatistics
    degraded: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict[str, float])
    hypothetical: str = ""
    vector: npt.NDArray[np.float32] | None = None


class Band(StrEnum):
    """How far an answer can be trusted."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"


class NextAction(StrEnum):
    """What the agent should do with the result."""

    ANSWER = "answer"
    ANSWER_WITH_CARE = "answer_with_care"
    CALL_WEB_FALLBACK = "call_web_fallback"
    REPLY = "reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judgement of a whole search.

    ``score`` is the best passage's chance of answering the question; ``answerable`` the chance that the knowledge
    base answers it at all. ``relevance_source`` names the ranker and its calibration; ``reranked`` says whether a
    model read the passages.
    """

    score: float
    answerable: float
    band: Band
    next_action: NextAction
    reason: str
    relevance_source: str
    reranked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One passage of an answer: a chunk, or neighbouring chunks of one section joined.

    ``disputed``: another document denies what it says about the question; a caveat names that one.
    """

    rank: int
    passage: Passage
    candidate: Candidate
    text: str
    chunk_ids: tuple[str, ...]
    band: Band
    caveats: tuple[str, ...] = ()
    disputed: bool = False


class SearchStatus(StrEnum):
    """``empty`` means that nothing was found; an outage is ``degraded``, never an empty list.

    ``no_question``: thanks or a greeting came, and nothing was searched.
    """

    OK = "ok"
    EMPTY = "empty"
    DEGRADED = "degraded"
    NO_QUESTION = "no_question"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The answer of the loop. ``ranking`` is every ranked passage before any were joined or cut.

    ``course`` tells by name what was done on the way beyond the plain search: ``asked``, ``also_searched``,
    ``hypothetical``, ``other_words``. ``search_id`` is empty where nothing was searched.
    """

    search_id: str
    question: str
    query: OptimizedQuery
    status: SearchStatus
    verdict: Verdict
    hits: tuple[Hit, ...]
    ranking: tuple[Candidate, ...]
    degraded: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict[str, float])
    gap_id: str = ""
    revision: int = 0
    course: dict[str, str] = field(default_factory=dict[str, str])
    verified: VerifiedMatch = field(default_factory=lambda: VerifiedMatch(match=Match.NONE))
    corrections: tuple[Relevant, ...] = ()
    failures: tuple[PastFailure, ...] = ()


def gap_id(question: str) -> str:
    """One id for every way of typing the same question: letter case, spacing and closing marks do not count."""
    return "gap_" + hashlib.sha256(folded(question).encode()).hexdigest()[:16]
