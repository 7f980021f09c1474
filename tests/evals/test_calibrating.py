"""RNK-2: curves fitted through the real pipeline, for the local ranker and for a model behind Anthropic's API."""

from __future__ import annotations

import random
import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harry_mcp.app import App
from harry_mcp.domain.calibration import Calibration
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.search import SearchResult
from harry_mcp.errors import EvalError, ProviderError
from harry_mcp.evals import golden, keeping
from harry_mcp.evals.calibrating import Fitted, calibrate
from harry_mcp.evals.golden import GoldenSet
from harry_mcp.evals.run import evaluate
from harry_mcp.settings import Settings, load_settings
from tests.evals.golden_files import CORPUS, help_centre
from tests.providers.scripted import ScriptedAnthropic, scores
from tests.providers.vendor import Answer, vendor

pytestmark = pytest.mark.promise("RNK-2")

Rate = Callable[[str, str], float]


@asynccontextmanager
async def claude(
    settings: Settings, rate: Rate | Answer, model: str = "claude-oracle"
) -> AsyncGenerator[Settings, None]:
    """The settings with a Claude on this machine that rates passages so, and does nothing else."""
    answering = rate if isinstance(rate, Answer) else scores(rate)
    async with vendor(ScriptedAnthropic(Scores=answering)) as server:
        environment = {
            "ANTHROPIC_API_KEY": "sk-ant-test",
            "HARRY_CLAUDE__BASE_URL": server.url,
            "HARRY_CLAUDE__MODEL": model,
            "HARRY_CLAUDE__RETRIES": "0",
            "HARRY_RANK__RERANKER": "claude",
            "HARRY_INGEST__CONTEXT": "template",
            "HARRY_SEARCH__HYDE": "off",
        }
        given = load_settings(environment)
        yield given.model_copy(update={"database_url": settings.database_url, "data_dir": settings.data_dir})


def oracle(wanted: GoldenSet, rate: Callable[[bool, random.Random], float]) -> Rate:
    """A model that knows which passage is of a golden document, and rates it with the noise of ``rate``."""
    titles = {row.id: row.title for row in wanted.corpus}
    right = {_folded(q.text): [titles[i] for i in q.relevant_ids if i in titles] for q in wanted.questions}

    def of(question: str, passage: str) -> float:
        dice = random.Random(zlib.crc32(f"{question}\n{passage}".encode()))
        good = any(passage.startswith(title[:100]) for title in right[_folded(question)])
        return min(max(rate(good, dice), 0.0), 1.0)

    return of


def _folded(text: str) -> str:
    return " ".join(text.split())[:120]


def timid(good: bool, dice: random.Random) -> float:
    """It tells right from wrong, and never goes over a half: taken as chances its scores would all be weak."""
    return dice.gauss(0.35 if good else 0.12, 0.05)


def bold(good: bool, dice: random.Random) -> float:
    """As good, and full of praise for everything: taken as chances its scores would all be strong."""
    return dice.gauss(0.93 if good else 0.72, 0.05)


async def test_a_curve_holds_for_its_ranker_and_for_no_other(settings: Settings, tmp_path: Path) -> None:
    files = help_centre(tmp_path)
    wanted = golden.load(files.corpus, files.queries)
    async with claude(settings, oracle(wanted, timid)) as with_claude:
        fitted = await calibrate(with_claude, wanted, "help")
        curve = fitted.calibration
        assert curve.ranker.startswith("claude-oracle:rank-")
        assert (curve.questions, curve.answerable, fitted.figures["answered"]) == (12, 6, 6)
        assert curve.corpus == f"help ({wanted.fingerprint})"
        assert max(fitted.raw) < 0.55
        assert "6 answerable and 6 unanswerable questions all figures are rough" in fitted.figures["warnings"][0]
        # It is not in use before it is kept
        before = await _ask(with_claude, "How do I rotate an API key?")
        assert before.verdict.relevance_source.startswith(f"{curve.ranker}/uncalibrated")
        async with keeping.shelf(with_claude) as shelf:
            await shelf.save_curve(curve)
            await shelf.save_curve(curve)
            assert await shelf.curves() == [curve]
        after = await _ask(with_claude, "How do I rotate an API key?")
        assert after.verdict.relevance_source == f"{curve.ranker}/{curve.id}"
        assert after.verdict.score == pytest.approx(curve.of(after.ranking[0].raw))
        assert after.verdict.score > 0.6 > after.ranking[0].raw
    async with claude(settings, oracle(wanted, timid), model="claude-other") as another:
        other = await _ask(another, "How do I rotate an API key?")
        assert other.verdict.relevance_source.startswith("claude-other:rank-")
        assert "/uncalibrated" in other.verdict.relevance_source
    local = await _ask(settings, "How do I rotate an API key?")
    assert "claude" not in local.verdict.relevance_source


async def _ask(settings: Settings, question: str) -> SearchResult:
    """Ask of a knowledge base that holds the help centre."""
    async with await App.open(settings) as app:
        rows = [{name: str(value) for name, value in row.items()} for row in CORPUS]
        await app.ingester.ingest(
            [SourceDocument(source=row["id"], title=row["title"], text=row["text"]) for row in rows]
        )
        return await app.loop.search(question)


async def test_the_local_ranker_gets_a_curve_of_its_own(settings: Settings, tmp_path: Path) -> None:
    """Its raw scores are its built-in ones, also where a curve is kept already: a fit never stands on another."""
    files = help_centre(tmp_path)
    wanted = golden.load(files.corpus, files.queries)
    first = await calibrate(settings, wanted, "help", method="isotonic")
    assert first.calibration.ranker == (await evaluate(settings, wanted, plain=False))["relevance_source"]
    async with keeping.shelf(settings) as shelf:
        await shelf.save_curve(first.calibration)
        curves = await shelf.curves()
    again = await calibrate(settings, wanted, "help", method="isotonic")
    assert again.calibration.id == first.calibration.id
    figures = await evaluate(settings, wanted, plain=False, curves=curves)
    assert figures["relevance_source"] == f"{first.calibration.ranker}/{first.calibration.id}"


async def test_golden_sets_that_cannot_carry_a_curve_are_refused(settings: Settings, tmp_path: Path) -> None:
    files = help_centre(tmp_path)
    wanted = golden.load(files.corpus, files.queries)
    answerable = wanted.model_copy(update={"questions": tuple(q for q in wanted.questions if q.answerable)})
    with pytest.raises(EvalError, match=r"no unanswerable question.*--holdout"):
        await calibrate(settings, answerable, "help")
    few = wanted.model_copy(update={"questions": wanted.questions[:8]})
    with pytest.raises(EvalError, match=r"at least 5 questions of either kind; there are 6 answerable and 2"):
        await calibrate(settings, few, "help")


async def test_a_ranker_that_does_not_answer_gets_no_curve(settings: Settings, tmp_path: Path) -> None:
    files = help_centre(tmp_path)
    wanted = golden.load(files.corpus, files.queries)
    async with claude(settings, Answer(status=500)) as broken:
        with pytest.raises(ProviderError, match=r"scored 0 of 12 questions \(rerank_failed 12\)"):
            await calibrate(broken, wanted, "help")


@pytest.mark.promise("RNK-3")
@pytest.mark.parametrize("rate", [timid, bold])
async def test_bands_keep_their_meaning_after_a_swap_of_the_ranker(
    settings: Settings, shared_data: Path, rate: Callable[[bool, random.Random], float]
) -> None:
    """Fitted on one half of real support questions, judged on the other, with a model whose raw scores mislead."""
    home = shared_data / "techqa"
    whole = golden.load(home / "corpus.jsonl", home / "queries.jsonl", home / "holdout.json")
    learnt, judged = _part(whole, 0), _part(whole, 1)
    async with claude(settings, oracle(whole, rate)) as with_claude:
        fitted = await calibrate(with_claude, learnt, "half")
        figures = await evaluate(with_claude, judged, plain=False, curves=[fitted.calibration])
    assert figures["relevance_source"] == f"{fitted.calibration.ranker}/{fitted.calibration.id}"
    assert list(figures["retrieval"]) == ["context", "rank", "rerank"]
    for verdict in (fitted.figures["after"], figures["verdict"]):
        assert verdict["auroc"] >= 0.85
        assert verdict["expected_calibration_error"] <= 0.10
        assert verdict["bands"]["strong"]["questions"] >= 15
        assert verdict["bands"]["strong"]["answerable"] >= 0.85
        assert verdict["bands"]["strong"]["answered"] >= 0.85
        assert verdict["bands"]["weak"]["answerable"] <= 0.25
    _raw_scores_mislead(fitted)


def _raw_scores_mislead(fitted: Fitted) -> None:
    assert fitted.figures["calibration_error_before"] >= 0.20
    assert fitted.figures["calibration_error"] <= 0.10


def _part(whole: GoldenSet, number: int) -> GoldenSet:
    """Every fourth question, and the documents that these are about."""
    questions = whole.questions[number::4]
    about = {i for question in questions for i in question.relevant_ids}
    return GoldenSet(corpus=tuple(row for row in whole.corpus if row.id in about), questions=questions)


async def test_curves_are_kept_whole_and_the_newest_holds(settings: Settings) -> None:
    def curve(number: int, ranker: str) -> Calibration:
        return Calibration(
            id=f"cal_{number}",
            ranker=ranker,
            method="platt",
            raw=(0.1, 0.9),
            chance=(0.2, 0.7 + number / 100),
            corpus="a set",
            questions=20,
            answerable=10,
            auroc=0.9,
            calibration_error=0.05,
            fitted_at=datetime(2026, 11, 1 + number, tzinfo=UTC),
        )

    async with keeping.shelf(settings) as shelf:
        for kept in (curve(1, "a"), curve(3, "a"), curve(2, "a"), curve(4, "b")):
            await shelf.save_curve(kept)
        assert sorted(found.id for found in await shelf.curves()) == ["cal_3", "cal_4"]
        assert [found.id for found in await shelf.all_curves()] == ["cal_4", "cal_3", "cal_2", "cal_1"]
        async with shelf.database.transaction() as unit:
            assert await unit.calibrations.of("a") == curve(3, "a")
            assert await unit.calibrations.of("A") is None
            assert await unit.calibrations.delete("cal_3")
            assert not await unit.calibrations.delete("cal_3")
            assert await unit.calibrations.of("a") == curve(2, "a")
