"""RNK-2, RNK-3: scores, bands and the verdict; RET-9: copies and neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.search import Band, Candidate, CorpusStatistics, NextAction, Passage, QueryTerm, Retrieval
from harry_mcp.domain.terms import pack
from harry_mcp.providers.local.ranker import LocalRanker
from harry_mcp.settings import RankSection
from harry_mcp.stages.rank.bands import band_of
from harry_mcp.stages.rank.calibration import LOCAL, background
from harry_mcp.stages.rank.duplicates import collapse
from harry_mcp.stages.rank.hits import assemble
from harry_mcp.stages.rank.ranker import RankStage

STATISTICS = CorpusStatistics(chunks=100, length_sum=5000, title_sum=300, revision=1)
TERMS = [
    QueryTerm(ids=(1,), df=3, title_df=1),
    QueryTerm(ids=(2,), df=5, title_df=0),
    QueryTerm(ids=(), df=0, title_df=0),
]


def candidate(number: int, *, cosine: float | None = 0.3, terms: Sequence[int] = (9,), document: str = "") -> Candidate:
    return Candidate(
        chunk_id=number,
        public_id=f"chk_{number}",
        document_id=document or f"doc_{number}",
        ordinal=0,
        terms=pack(terms),
        title_terms=pack(()),
        cosine=cosine,
    )


def stage() -> RankStage:
    return RankStage(LocalRanker(), RankSection(), 0.9)


def retrieval(candidates: Sequence[Candidate], terms: Sequence[QueryTerm] = TERMS) -> Retrieval:
    return Retrieval(candidates=tuple(candidates), terms=tuple(terms), statistics=STATISTICS)


@pytest.mark.promise("RNK-3")
@pytest.mark.parametrize(
    ("score", "band"),
    [(1.0, "strong"), (0.6, "strong"), (0.599, "moderate"), (0.45, "moderate"), (0.449, "weak"), (0.0, "weak")],
)
def test_bands(score: float, band: str) -> None:
    assert band_of(score, RankSection()) == band


@pytest.mark.promise("RNK-3")
def test_a_hit_that_stands_out_is_strong_and_says_answer() -> None:
    best = candidate(1, cosine=0.75, terms=[1, 2, 5, 6])
    others = [candidate(number, cosine=0.2, terms=[7 + number]) for number in range(2, 12)]
    ranking, verdict = stage().rank(retrieval([*others, best]))
    assert ranking[0].public_id == "chk_1"
    assert verdict.band is Band.STRONG
    assert verdict.next_action is NextAction.ANSWER
    assert verdict.score == ranking[0].score
    assert "local" in verdict.relevance_source
    assert not verdict.reranked


@pytest.mark.promise("RNK-3")
def test_a_crowd_of_good_neighbours_is_weak_however_near_they_are() -> None:
    """Similarity alone is no answer: ten pages with the same high cosine say that none of them is the one."""
    crowd = [candidate(number, cosine=0.7, terms=[1, 50 + number]) for number in range(1, 11)]
    _, verdict = stage().rank(retrieval(crowd))
    assert verdict.band is Band.WEAK
    assert verdict.next_action is NextAction.CALL_WEB_FALLBACK
    assert "does not know" in verdict.reason


@pytest.mark.promise("RNK-3")
def test_nothing_found_is_weak_and_says_so() -> None:
    ranking, verdict = stage().rank(retrieval([]))
    assert ranking == []
    assert verdict.score == 0.0
    assert verdict.band is Band.WEAK
    assert "No passage matches" in verdict.reason


@pytest.mark.promise("RNK-2")
@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.lists(st.integers(1, 6), max_size=12), st.sampled_from(["a", "b", "c", ""])),
        max_size=40,
    )
)
def test_scores_are_chances_and_follow_the_order(rows: list[tuple[float, list[int], str]]) -> None:
    made = [
        candidate(number, cosine=cosine, terms=terms, document=document)
        for number, (cosine, terms, document) in enumerate(rows)
    ]
    ranking, verdict = stage().rank(retrieval(made))
    scores = [item.score for item in ranking]
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert verdict.score == (scores[0] if scores else 0.0)
    kept = {item.public_id for item in ranking} | {name for item in ranking for name in item.duplicates}
    assert kept == {item.public_id for item in made}


@pytest.mark.promise("RNK-2")
def test_without_a_query_vector_the_words_still_order() -> None:
    ranking, _ = stage().rank(
        retrieval(
            [candidate(1, cosine=None), candidate(2, cosine=None, terms=[1, 2]), candidate(3, cosine=None, terms=[2])]
        )
    )
    assert [item.public_id for item in ranking] == ["chk_2", "chk_3", "chk_1"]


@pytest.mark.promise("RNK-3")
def test_one_word_without_likeness_of_meaning_is_never_strong() -> None:
    word = [QueryTerm(ids=(1,), df=1, title_df=0)]
    lonely = [candidate(1, cosine=0.2, terms=[1])]
    _, verdict = stage().rank(retrieval(lonely, word))
    assert verdict.band is not Band.STRONG
    _, verdict = stage().rank(retrieval([candidate(1, cosine=0.5, terms=[1])], word))
    assert verdict.band is Band.STRONG


@pytest.mark.promise("RNK-2")
def test_copies_of_a_page_do_not_hide_that_it_stands_out() -> None:
    terms = list(range(100, 140))
    best = candidate(1, cosine=0.75, terms=[1, 2, *terms])
    copies = [candidate(number, cosine=0.75, terms=[1, 2, *terms, number]) for number in range(2, 6)]
    others = [candidate(number, cosine=0.2, terms=[200 + number]) for number in range(10, 20)]
    ranking, verdict = stage().rank(retrieval([best, *copies, *others]))
    assert verdict.band is Band.STRONG
    assert {ranking[0].public_id, *ranking[0].duplicates} == {f"chk_{number}" for number in range(1, 6)}


@pytest.mark.promise("RNK-2")
def test_the_background_is_of_documents_and_padded_when_there_are_few() -> None:
    assert background([candidate(1)._replace(fusion=1.5)]) == pytest.approx(0.30)
    same = [candidate(n, document="one")._replace(fusion=1.0) for n in range(5)]
    assert background(same) == pytest.approx(0.30)
    assert LOCAL.score(1.5, 0.3) > LOCAL.score(1.0, 0.3) > LOCAL.score(1.0, 0.9)


@pytest.mark.promise("RNK-2")
def test_lexical_evidence_is_a_share_of_what_the_question_could_score() -> None:
    ranked = LocalRanker().rank(
        TERMS, [candidate(1, terms=[1, 2]), candidate(2, terms=[2, 9, 1]), candidate(3, terms=[9])], STATISTICS
    )
    by_id = {item.public_id: item for item in ranked}
    # Both hold both words; the first holds them side by side, as the question does.
    assert by_id["chk_1"].lexical > by_id["chk_2"].lexical > by_id["chk_3"].lexical == 0.0
    assert 0 < by_id["chk_1"].lexical < 1.2
    known = LocalRanker().rank(TERMS[:2], [candidate(1, terms=[1, 2])], STATISTICS)[0]
    assert known.lexical > by_id["chk_1"].lexical  # the unknown third word lowers the share


def passage(number: int, *, document: str = "doc", ordinal: int = 0, heading: Sequence[str] = ("A",)) -> Passage:
    return Passage(
        chunk_id=number,
        public_id=f"chk_{number}",
        document_id=document,
        ordinal=ordinal,
        heading_path=list(heading),
        raw_content=f"text {number}",
        contextual_content=f"Title\nA\n\ntext {number}",
        span_start=ordinal * 10,
        span_end=ordinal * 10 + 6,
        title="Title",
        url="",
        source="test:doc",
        topic="",
        language="en",
        status="live",
        updated_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


@pytest.mark.promise("RET-9")
@pytest.mark.promise("ING-4")
def test_neighbours_of_one_section_are_joined_in_reading_order_and_show_no_preamble() -> None:
    passages = {
        1: passage(1, ordinal=4),
        2: passage(2, ordinal=3),
        3: passage(3, ordinal=9),
        4: passage(4, ordinal=5, heading=("B",)),
    }
    hits = assemble([candidate(n) for n in (1, 2, 3, 4)], passages, 3, lambda _: Band.STRONG)
    assert [hit.chunk_ids for hit in hits] == [("chk_2", "chk_1"), ("chk_3",), ("chk_4",)]
    assert hits[0].text == "text 2\n\ntext 1"
    assert hits[0].passage.span_start == 30
    assert [hit.rank for hit in hits] == [1, 2, 3]


@pytest.mark.promise("RET-9")
def test_collapse_goes_only_as_deep_as_hits_come_from() -> None:
    ranked = [candidate(number, terms=[1, 2, 3]) for number in range(4)]
    assert [item.public_id for item in collapse(ranked, 0.9, 3)] == ["chk_0", "chk_3"]
