"""What became of each question: all that the figures are made of, and what is stored of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, computed_field

from harry_mcp.domain.search import Band, Candidate, SearchResult
from harry_mcp.evals.golden import Question


class Stage(StrEnum):
    """The rungs of the ladder, each on top of the one before. The first three search bare chunks."""

    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"
    CONTEXT = "context"
    RANK = "rank"
    RERANK = "rerank"


class Answer(BaseModel):
    """One question and its answer.

    ``ranks`` has, for each stage, the places from 1 at which golden ids stand; ``relevant`` is how many golden ids
    there are, ``found`` how many candidates. ``raw`` is what a re-ranking model said of the first hit, -1 when none
    read it; ``score`` the verdict's.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    answerable: bool
    relevant: int
    found: int
    score: float
    raw: float = -1.0
    band: Band
    reranked: bool = False
    degraded: tuple[str, ...] = ()
    ranks: dict[str, tuple[int, ...]]

    @property
    def findable(self) -> bool:
        """Whether retrieval can be measured by it."""
        return self.answerable and self.relevant > 0

    @property
    def stage(self) -> str:
        """The last stage, which is what the agent gets."""
        return Stage.RERANK if Stage.RERANK in self.ranks else Stage.RANK

    @computed_field
    @property
    def first_relevant_rank(self) -> int:
        """The place of the first golden id at the end of all stages, 0 when none was found."""
        return next(iter(self.ranks.get(self.stage, ())), 0)

    @property
    def answered(self) -> bool:
        """Whether the first hit answers it. Where no golden ids are given, that it can be answered must do."""
        return self.answerable and (self.first_relevant_rank == 1 or not self.relevant)


def answer(question: Question, result: SearchResult, stages: Mapping[str, Sequence[str]]) -> Answer:
    """The record of one question, with the golden ids that each stage brought, best first."""
    wanted = set(question.relevant_ids)
    first = result.ranking[0] if result.ranking else None
    return Answer(
        id=question.id,
        answerable=question.answerable,
        relevant=len(wanted),
        found=len(result.ranking),
        score=round(result.verdict.score, 6),
        raw=round(first.raw, 6) if first else -1.0,
        band=result.verdict.band,
        reranked=result.verdict.reranked,
        degraded=result.degraded,
        ranks={
            name: tuple(rank for rank, found in enumerate(ids, start=1) if found in wanted)
            for name, ids in stages.items()
        },
    )


def stages_of(result: SearchResult, names: Mapping[str, str], *, by_chunk: bool) -> dict[str, list[str]]:
    """The golden ids in the order of each leg, of their fusion, of the local ranker, and of the model that read them.

    All are read off one search: every candidate carries its place in each leg. A candidate that was joined with a near
    copy stands at the place of the better of the two.
    """

    def ids(candidates: Sequence[Candidate]) -> list[str]:
        found: dict[str, None] = {}
        for item in candidates:
            for key in (item.public_id, *item.duplicates) if by_chunk else (item.document_id,):
                found.setdefault(names.get(key, key))
        return list(found)

    ranking = result.ranking
    stages = {
        Stage.KEYWORD: sorted((item for item in ranking if item.keyword_rank), key=lambda item: item.keyword_rank),
        Stage.VECTOR: sorted((item for item in ranking if item.vector_rank), key=lambda item: item.vector_rank),
        Stage.HYBRID: sorted(ranking, key=lambda item: (-item.rrf, item.chunk_id)),
        Stage.RANK: sorted(ranking, key=lambda item: (-item.fusion, item.chunk_id)),
    }
    if result.verdict.reranked:
        stages[Stage.RERANK] = list(ranking)
    return {stage.value: ids(candidates) for stage, candidates in stages.items()}
