"""RET-2, RET-3, RNK-1, RNK-4, OPS-3: what models add to a search, and what it does without them."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime

import pytest

from harry_mcp.domain.calibration import Calibration
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.search import Band, SearchStatus
from harry_mcp.providers.model_reranker import ModelReranker
from harry_mcp.settings import SearchSection, Settings
from harry_mcp.storage.database import Database
from tests.loop.with_models import CLAUDE_KEY, VOYAGE_KEY, with_models
from tests.providers.scripted import ScriptedAnthropic, ScriptedVoyage, question_of, scores, shaped
from tests.providers.vendor import Answer, message

QUESTION = "How do I rotate an API key?"
FAULTS = {
    "429 for an hour": Answer(status=429, headers={"retry-after": "3600"}),
    "500": Answer(status=500),
    "529 overloaded": Answer({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, status=529),
    "hangs": Answer(hangs=True),
    "half a body": Answer(message("half"), half=True),
    "hangs up": Answer(closes=True),
    "another shape": Answer(message('{"what": "this"}')),
    "no JSON": Answer("<html>gateway</html>", headers={"content-type": "text/html"}),
}
# Seconds that this machine may take beyond the deadline of a search, with others at work on it.
SLACK = 3.0


@pytest.mark.promise("RET-3")
async def test_the_question_and_a_hypothetical_answer_are_embedded_in_one_call(settings: Settings) -> None:
    claude = ScriptedAnthropic(complete=Answer(message("Go to Settings and press Rotate.")))
    async with with_models(settings, claude=claude, voyage=ScriptedVoyage()) as made:
        made.voyage.asked.clear()
        result = await made.app.loop.search(QUESTION)
        embedded = [asked.body["input"] for asked in made.voyage.asked["embeddings"]]
        assert embedded == [[QUESTION, "Go to Settings and press Rotate."]]
        assert result.course["hypothetical"] == "Go to Settings and press Rotate."
        assert result.status is SearchStatus.OK
        assert {"hyde", "embed", "vector", "keyword", "rerank"} <= set(result.timings_ms)
        await made.app.loop.search(QUESTION)
        assert len(made.claude.asked["complete"]) == 1, "the hypothetical answer is kept"


@pytest.mark.promise("RET-3")
async def test_a_passage_that_only_the_hypothetical_answer_is_near_to_is_found(settings: Settings) -> None:
    claude = ScriptedAnthropic(complete=Answer(message("Single sign-on with Okta needs the Enterprise plan.")))
    narrow = {"retrieve": {"vector_at_least": 1, "vector_floor": 0.99}}
    async with with_models(settings, claude=claude, voyage=ScriptedVoyage(), sections=narrow) as made:
        result = await made.app.loop.search("Which tier is necessary?", record=False)
    brought = {item.document_id: item for item in result.ranking}
    titles = [hit.passage.title for hit in result.hits]
    assert "Single sign-on" in titles
    assert all(item.cosine is not None for item in brought.values())


@pytest.mark.promise("RET-2")
async def test_a_model_makes_a_follow_up_stand_alone(settings: Settings) -> None:
    claude = ScriptedAnthropic(StandAlone=shaped({"question": "How many rows does an export of contacts hold?"}))
    async with with_models(settings, claude=claude) as made:
        result = await made.app.loop.search("And how many rows?", history=["user: Can I export contacts?"])
        assert result.question == "How many rows does an export of contacts hold?"
        assert result.course["asked"] == "And how many rows?"
        assert result.hits[0].passage.title == "Exports"
        sent = question_of(made.claude.asked["StandAlone"][0])
        assert "Can I export contacts?" in sent
        await made.app.loop.search("And how many rows?", history=["user: Can I export contacts?"])
        assert len(made.claude.asked["StandAlone"]) == 1
        await made.app.loop.search(QUESTION, history=["user: Can I export contacts?"])
        assert len(made.claude.asked["StandAlone"]) == 1, "a question that stands alone asks no model"


@pytest.mark.promise("RET-2")
async def test_what_a_model_makes_of_a_follow_up_counts_only_where_nothing_of_it_is_lost(settings: Settings) -> None:
    claude = ScriptedAnthropic(StandAlone=shaped({"question": "How many rows does an export of contacts hold?"}))
    async with with_models(settings, claude=claude, sections={"search": {"hyde": "off"}}) as made:
        result = await made.app.loop.search("And not over 500 rows?", history=["user: Can I export contacts?"])
    assert "rewrite_refused" in result.degraded
    assert "500" in result.question
    assert result.hits[0].passage.title == "Exports"


@pytest.mark.promise("RNK-1")
async def test_a_model_orders_and_without_its_curve_the_verdict_stays_local(settings: Settings) -> None:
    def invoices_first(_question: str, passage: str) -> float:
        return 0.9 if "Invoices" in passage else 0.1

    async with with_models(settings, claude=ScriptedAnthropic(Scores=scores(invoices_first))) as made:
        result = await made.app.loop.search(QUESTION)
        assert result.hits[0].passage.title == "Invoices"
        assert 0.72 <= result.hits[0].candidate.raw <= 0.92
        assert result.verdict.reranked
        assert "uncalibrated" in result.verdict.relevance_source
        without = made.app.settings.model_copy(
            update={"rank": made.app.settings.rank.model_copy(update={"reranker": "local"})}
        )
    async with with_models(without, sections={"rank": {"reranker": "local"}}) as made:
        local = await made.app.loop.search(QUESTION)
    assert result.verdict.score == pytest.approx(local.verdict.score)
    assert result.verdict.band is local.verdict.band


@pytest.mark.promise("RNK-2")
async def test_a_curve_serves_its_own_ranker_and_no_other(settings: Settings, database: Database) -> None:
    def curve(ranker: str, chance: float) -> Calibration:
        return Calibration(
            id=f"cal_{chance}",
            ranker=ranker,
            method="isotonic",
            raw=(0.0, 1.0),
            chance=(0.0, chance),
            corpus="test",
            questions=2,
            answerable=1,
            auroc=1.0,
            calibration_error=0.0,
            fitted_at=datetime.now(tz=UTC),
        )

    async with with_models(settings, claude=ScriptedAnthropic(Scores=scores(lambda _q, _p: 0.5))) as made:
        model = ModelReranker(made.app._model).name  # pyright: ignore[reportPrivateUsage, reportArgumentType]
        own = f"{model}+0.2*local-fusion-2/contrast-1"
        async with database.transaction() as unit:
            await unit.calibrations.save(curve(own, 0.4))
            await unit.calibrations.save(curve(model, 0.8))
            await unit.calibrations.save(curve("claude:another-model/1", 0.9))
        result = await made.app.loop.search(QUESTION)
    best = result.hits[0].candidate
    assert best.raw == pytest.approx(0.8 * 0.5 + 0.2 * best.local)
    assert result.verdict.score == pytest.approx(0.4 * best.raw)
    assert result.verdict.relevance_source == f"{own}/cal_0.4"
    assert result.verdict.band is Band.WEAK


@pytest.mark.promise("RNK-1")
async def test_a_model_that_hangs_costs_its_budget_and_no_more(settings: Settings) -> None:
    sections: dict[str, dict[str, object]] = {"rank": {"budget": 0.4}, "search": {"hyde": "off"}}
    async with with_models(settings, claude=ScriptedAnthropic(Scores=FAULTS["hangs"]), sections=sections) as made:
        started = time.monotonic()
        result = await made.app.loop.search(QUESTION)
        took = time.monotonic() - started
    assert result.degraded == ("rerank_timeout",)
    assert result.status is SearchStatus.DEGRADED
    assert result.hits[0].passage.title == "API keys"
    assert "uncalibrated" not in result.verdict.relevance_source
    assert took < 0.4 + SLACK


@pytest.mark.promise("OPS-3")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", ["complete", "Scores", "StandAlone", "embeddings"])
async def test_every_fault_at_every_stage_is_named_in_time_and_tells_no_key(
    settings: Settings, kind: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ways: dict[str, Answer] = {kind: FAULTS[fault]}
    usual = {"StandAlone": shaped({"question": QUESTION}), "complete": Answer(message("Press Rotate in Settings."))}
    answers = {**usual, **ways}
    healthy = ScriptedVoyage()
    claude = ScriptedAnthropic(**{name: answer for name, answer in answers.items() if name != "embeddings"})
    default = SearchSection().model_dump()
    sections: dict[str, dict[str, object]] = {"search": default, "rank": {"budget": 2.0}}
    async with with_models(settings, claude=claude, voyage=healthy, sections=sections) as made:
        if kind == "embeddings":
            healthy.give(embeddings=FAULTS[fault])
        started = time.monotonic()
        result = await made.app.loop.search("And how do I rotate it?", history=["user: What is an API key?"])
        took = time.monotonic() - started
    stage = {"complete": "hyde", "Scores": "rerank", "StandAlone": "rewrite", "embeddings": "embedding"}[kind]
    prose = kind == "complete" and fault == "another shape"  # a hypothetical answer has no shape to miss
    assert any(part.startswith(stage) for part in result.degraded) is not prose
    assert took < made.app.settings.search.deadline + SLACK
    assert result.hits
    assert CLAUDE_KEY not in caplog.text
    assert VOYAGE_KEY not in caplog.text


@pytest.mark.promise("OPS-3")
async def test_all_models_hanging_at_once_still_answer_within_the_deadline(settings: Settings) -> None:
    hang = FAULTS["hangs"]
    claude = ScriptedAnthropic(complete=hang, Scores=hang, StandAlone=hang, OtherWords=hang)
    voyage = ScriptedVoyage()
    sections: dict[str, dict[str, object]] = {
        "search": {**SearchSection().model_dump(), "deadline": 2.0, "corrective": True}
    }
    async with with_models(settings, claude=claude, voyage=voyage, sections=sections) as made:
        voyage.give(embeddings=hang)
        started = time.monotonic()
        result = await made.app.loop.search("And how do I rotate it?", history=["user: What is an API key?"])
        took = time.monotonic() - started
    assert took < 2.0 + SLACK
    assert {"rewrite_timeout", "hyde_timeout", "embedding_timeout"} <= set(result.degraded)
    assert result.hits[0].passage.title == "API keys"


@pytest.mark.promise("RNK-4")
async def test_corrective_retrieval_is_off_by_default_and_asks_once_more_where_it_is_on(settings: Settings) -> None:
    claude = ScriptedAnthropic(OtherWords=shaped({"query": "Single sign-on with Okta needs which plan?"}))
    vague = "My colleagues want the thing with one password"
    async with with_models(settings, claude=claude) as made:
        await made.app.loop.search(vague)
        assert "OtherWords" not in made.claude.asked
    on: dict[str, dict[str, object]] = {"search": {"corrective": True}}
    async with with_models(settings, claude=claude, sections=on) as made:
        result = await made.app.loop.search(vague)
        assert len(made.claude.asked["OtherWords"]) == 1
        assert result.hits[0].passage.title == "Single sign-on"
        assert result.course["other_words"] == "Single sign-on with Okta needs which plan?"


@pytest.mark.promise("RNK-1")
async def test_scores_of_a_model_are_kept_until_a_passage_changes(settings: Settings) -> None:
    async with with_models(settings, sections={"search": {"hyde": "off"}}) as made:
        await made.app.loop.search(QUESTION)
        await made.app.loop.search(QUESTION)
        assert len(made.claude.asked["Scores"]) == 1
        await made.app.ingester.ingest(
            [SourceDocument(source="test:API keys", title="API keys", text="Rotate an API key on its page.")]
        )
        await made.app.loop.search(QUESTION)
        assert len(made.claude.asked["Scores"]) == 2
