"""A golden set put through the real pipeline in a database of its own: the corpus ingested, every question asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harry_mcp.app import App
from harry_mcp.domain.calibration import Calibration
from harry_mcp.domain.documents import IngestOutcome
from harry_mcp.errors import EvalError
from harry_mcp.evals.answers import Answer, answer, stages_of
from harry_mcp.evals.corpus import GoldenCorpus
from harry_mcp.evals.golden import GoldenSet, Question
from harry_mcp.evals.models import asks_models, without_models
from harry_mcp.ingest.ingester import Progress
from harry_mcp.ingest.preparing import Preparer
from harry_mcp.ingest.running import Item
from harry_mcp.settings import Settings

# Questions asked at once: enough to keep the model and PostgreSQL busy, few enough to leave the timings honest.
_AT_ONCE = 2
# The same where a model far away reads each: then the time is its, and ours is spent waiting.
_AT_ONCE_WITH_MODEL = 4
_DEPTH = 20

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A golden set's answers, how long each step of each took, and what scored them."""

    answers: list[Answer]
    timings_ms: list[dict[str, float]]
    relevance_source: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What was measured, in the words of the parts that did it."""

    chunks: int
    embeddings: str
    contexts: str
    postgres: str


class Laboratory:
    """One golden set in one database, which ``settings`` name and which is empty or its own."""

    def __init__(self, settings: Settings, golden: GoldenSet, note: Report) -> None:
        self._settings = settings
        self._golden = golden
        self._note = note

    async def plain(self) -> Asked:
        """Ask with bare chunks and without any model: what context and ranking are measured against.

        Raises:
            EvalError: the corpus cannot be stored.
        """
        corpus = GoldenCorpus(self._golden)
        settings = without_models(self._settings)
        async with await App.open(settings) as app:
            chunks = await corpus.plain(Preparer(app.embedder, settings.ingest))
            await self._ingest(app, chunks, "bare text")
            return await self._ask(app, corpus)

    async def whole(self, curves: Sequence[Calibration] = ()) -> tuple[Asked, Facts]:
        """Ask with everything that the settings name; ``curves`` are the calibrations that hold.

        Raises:
            EvalError: the corpus cannot be stored, or not with the contexts that are to be measured.
        """
        corpus = GoldenCorpus(self._golden)
        async with await App.open(self._settings) as app:
            async with app.database.transaction() as unit:
                for curve in curves:
                    await unit.calibrations.save(curve)
            outcome = await self._ingest(app, corpus.documents(), "with context")
            asked = await self._ask(app, corpus)
            situator = app.ingester.situator
            facts = Facts(
                chunks=outcome.chunks_written,
                embeddings=str(app.embedder.space),
                contexts=situator.recipe.strip(" +") if situator else "template",
                postgres=(await app.database.versions()).postgres,
            )
        return asked, facts

    async def _ingest(self, app: App, items: Iterable[Item], how: str) -> IngestOutcome:
        def step(progress: Progress) -> None:
            self._note(f"{how}: {progress.outcome} {progress.title}")

        outcome = await app.ingester.ingest(items, report=step)
        if outcome.failed:
            raise EvalError(f"{len(outcome.failed)} documents could not be stored: {outcome.failed}.")
        if outcome.template_contexts:
            first = next(iter(outcome.template_contexts.values()))
            raise EvalError(f"Not every passage has the context that is to be measured: {first}.")
        return outcome

    async def _ask(self, app: App, corpus: GoldenCorpus) -> Asked:
        gate = asyncio.Semaphore(_AT_ONCE_WITH_MODEL if asks_models(self._settings) else _AT_ONCE)
        longest = app.settings.reply.question_characters
        done = 0

        async def ask(question: Question) -> tuple[Answer, dict[str, float], str]:
            nonlocal done
            async with gate:
                result = await app.loop.search(
                    question.text[:longest], k=_DEPTH, history=question.history, record=False
                )
            done += 1
            self._note(f"asked {done} of {len(self._golden.questions)}")
            stages = stages_of(result, corpus.names, by_chunk=self._golden.ready_made)
            return answer(question, result, stages), result.timings_ms, result.verdict.relevance_source

        found = await asyncio.gather(*(ask(question) for question in self._golden.questions))
        answers, timings, sources = zip(*found, strict=True)
        # Where some questions went without the model, the others name it.
        source = max(sources, key=lambda name: (sum(s == name for s in sources), name))
        return Asked(list(answers), list(timings), source)
