"""The section that shows how a search grows: every leg at several sizes, in turns, and in a sentence by how much."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from statistics import median

import numpy as np
import numpy.typing as npt
from bench_corpus import SEED, Stored
from bench_figures import Matrix, timed

from harry_mcp.app import App
from harry_mcp.domain.search import SearchFilters
from harry_mcp.domain.tokens import query_terms
from harry_mcp.settings import Settings
from harry_mcp.stages.retrieve.keyword_leg import KeywordLeg
from harry_mcp.stages.retrieve.query import optimize
from harry_mcp.storage.embedded import EmbeddedPostgres
from harry_mcp.storage.memories import MemoryKind, MemoryText

Vector = npt.NDArray[np.float32]

_WARM = 10
_BLOCK = 10
# Memories beside the documents: one for so many chunks, of the kinds that every search looks at.
_CHUNKS_A_MEMORY = 10
_KINDS = (MemoryKind.VERIFIED, MemoryKind.CORRECTION, MemoryKind.FAILURE)
_LEGS = (
    ("keyword leg, six usual words", "keyword"),
    ("keyword leg, and the two commonest words", "common"),
    ("vector leg", "vector"),
    ("signals and neighbours", "signals"),
    ("rank", "rank"),
    ("passages", "passages"),
    ("recall from the memories", "recall"),
    ("whole search, a new question", "new"),
    ("whole search, the question again", "again"),
)


@dataclass(slots=True)
class _Size:
    """One knowledge base, its questions, and what was measured on it."""

    app: App
    questions: list[str]
    commonest: str
    leg: KeywordLeg = field(default_factory=KeywordLeg)
    samples: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def ask(self, questions: Sequence[str]) -> None:
        """Time some questions: the two legs alone, then whole searches, new and again."""
        for question in questions:
            await self._keyword(question, "keyword")
            await self._keyword(f"{question} {self.commonest}", "common")
        for name in ("new", "again"):
            results = [await self.app.loop.search(question) for question in questions]
            self.samples[name] += [result.timings_ms["total"] for result in results]
        # Again only: while a question is embedded, its other stages share the machine with the model.
        for stage in ("vector", "signals", "rank", "passages", "recall"):
            self.samples[stage] += [result.timings_ms[stage] for result in results]
        await self.app.loop.settled()

    async def _keyword(self, question: str, name: str) -> None:
        settings = self.app.settings.retrieve
        keywords = optimize(question, {}, settings.query_characters).keywords
        for _ in range(2):  # the first time also looks its words up, which is no part of the leg for long
            async with self.app.database.reading() as unit:
                own: list[float] = []
                with timed(own):
                    await self.leg.search(
                        unit.keywords, keywords, limit=settings.leg_candidates, filters=SearchFilters()
                    )
        self.samples[name] += own


async def measure_growth(sizes: Mapping[int, Settings], count: int) -> Matrix:
    """Each leg at each size, the sizes in turns so that a busy machine slows all of them."""
    async with AsyncExitStack() as stack:
        opened = {size: await _opened(stack, settings, count) for size, settings in sizes.items()}
        for each in opened.values():
            await each.ask(each.questions[:_WARM])
            each.samples.clear()
        for start in range(_WARM, _WARM + count, _BLOCK):
            for each in opened.values():
                await each.ask(each.questions[start : start + _BLOCK])
    table = Matrix("growth: median of each part in ms", [f"{size:,}" for size in sizes])
    for label, name in _LEGS:
        table.add(label, [median(each.samples[name]) for each in opened.values()])
    table.notes.append(_sentence(list(sizes), table.rows))
    table.notes.append(
        f"{count} questions, the sizes in turns of {_BLOCK}; one memory for {_CHUNKS_A_MEMORY} chunks; above 3,000 "
        "chunks most texts are joined halves and most vectors synthetic"
    )
    return table


async def _opened(stack: AsyncExitStack, settings: Settings, count: int) -> _Size:
    app = await stack.enter_async_context(await App.open(settings))
    server = EmbeddedPostgres.start(settings.data_dir / "postgres")
    stack.callback(server.close)
    stored = Stored.read(server.dsn)
    await _remember(app, len(stored.texts) // _CHUNKS_A_MEMORY)
    words = sorted(stored.df, key=lambda term: -stored.df[term])
    whole = [word for word in words[:50] if word.isalpha() and query_terms(word) == [(word,)]]
    return _Size(app, stored.questions(count + _WARM, "growth"), " ".join(whole[:2]))


async def _remember(app: App, count: int) -> None:
    """Vectors of memories that nobody owns: as many as a knowledge base of this size may have gathered."""
    dice = np.random.default_rng(SEED)
    kinds = random.Random(SEED)
    async with app.database.reading() as unit:
        for start in range(0, count, 1000):
            vectors = dice.normal(size=(min(1000, count - start), app.embedder.space.dimension))
            unit_length: Vector = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
            texts = [MemoryText(f"bench_{start + number}", "", active=True) for number in range(len(vectors))]
            await unit.memories.put(kinds.choice(_KINDS), texts, list(unit_length))


def _sentence(sizes: Sequence[int], rows: Sequence[tuple[str, Sequence[float]]]) -> str:
    """How the parts grow from the smallest size to the largest: time as the size to some power."""
    if len(sizes) < 2:
        return "one size shows no growth"
    more = sizes[-1] / sizes[0]
    told = ", ".join(
        f"{label} {values[-1] / values[0]:.1f} times (size to the power {_power(values[-1] / values[0], more):.2f})"
        for label, values in rows
    )
    return f"With {more:,.0f} times the chunks, the parts take longer by: {told}."


def _power(slower: float, more: float) -> float:
    return math.log(slower) / math.log(more)
