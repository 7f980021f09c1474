"""The sections that run the parts inside this process: the legs of a search, and ingest."""

from __future__ import annotations

import importlib
import random
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
from bench_corpus import SEED, Stored
from bench_figures import Table, timed
from pgvector import Vector
from pgvector.psycopg import register_vector

from harry_mcp.app import App
from harry_mcp.domain.search import SearchFilters
from harry_mcp.domain.tokens import query_terms
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.packages import installed_packages
from harry_mcp.ingest.sources import SourceItem, read_each
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.stages.retrieve.keyword_leg import KeywordLeg
from harry_mcp.stages.retrieve.query import optimize
from harry_mcp.storage.database import Database
from harry_mcp.storage.embedded import EmbeddedPostgres
from harry_mcp.storage.scratch import scratch_database

_WARM = 10
# Questions after which the other side of a comparison has its turn.
_BLOCK = 20
_STAGES = ("embed", "keyword", "vector", "signals", "rank", "passages", "total")
_INGEST_CHUNKS = 256
_LONGEST_DOCUMENT = 64
_BARE = """\
SELECT chunk_id FROM harry.chunk_vectors_{space} WHERE searchable
 ORDER BY embedding::vector({dimension}) <=> %s LIMIT {limit}"""


class _Legs:
    """Both legs of one question, each beside what it is compared with."""

    def __init__(self, app: App, stored: Stored, bare: psycopg.Connection[Any]) -> None:
        self._app = app
        self._limit = app.settings.retrieve.leg_candidates
        self._df = stored.df
        okapi: Any = importlib.import_module("rank_bm25")
        self._leg = KeywordLeg()
        self._okapi: Any = okapi.BM25Okapi(stored.terms)
        self._bare = bare
        self._languages: Sequence[str] = ("en",)
        self.samples: dict[str, list[float]] = defaultdict(list)
        self._keywords = ""
        self._vector: npt.NDArray[np.float32] = np.zeros(0, dtype=np.float32)
        (space,) = bare.execute("SELECT id FROM harry.embedding_spaces WHERE active").fetchall()[0]
        self._statement = _BARE.format(space=space, dimension=app.embedder.space.dimension, limit=self._limit).encode()

    async def ask(self, questions: Sequence[str], *, reverse: bool) -> None:
        """Time every part of some questions, one part after the other; ``reverse`` lets the references go first.

        Part by part, for a reference that walks through lists of 10,000 leaves no cache warm for what follows it.
        """
        queries = [optimize(text, {}, self._app.settings.retrieve.query_characters) for text in questions]
        vectors: list[npt.NDArray[np.float32]] = []
        for query in queries:
            with timed(self.samples["embed"]):
                vectors += list(await self._app.embedder.embed_queries([query.text]))
        pairs: list[list[Callable[[], Awaitable[None]]]] = [
            [self._keyword, self._rank_bm25],
            [self._nearest, self._pgvector],
        ]
        for pair in pairs:
            for step in reversed(pair) if reverse else pair:
                for query, self._vector in zip(queries, vectors, strict=True):
                    self._keywords = query.keywords
                    await step()

    async def prepare(self) -> None:
        async with self._app.database.reading() as unit:
            self._languages = await unit.keywords.languages()
            await self._leg.search(unit.keywords, "warm", limit=self._limit, filters=SearchFilters())

    async def _keyword(self) -> None:
        async with self._app.database.reading() as unit:
            with timed(self.samples["keyword"]):
                await self._leg.search(unit.keywords, self._keywords, limit=self._limit, filters=SearchFilters())

    async def _rank_bm25(self) -> None:
        variants = query_terms(self._keywords, self._languages)
        terms = [term for word in variants for term in word if term in self._df]
        with timed(self.samples["rank_bm25"]):
            np.argsort(self._okapi.get_scores(terms))[::-1][: self._limit]

    async def _nearest(self) -> None:
        section = self._app.settings.retrieve
        async with self._app.database.reading() as unit:
            with timed(self.samples["vector"]):
                await unit.vectors.nearest(
                    self._vector, limit=self._limit, floor=section.vector_floor, at_least=section.vector_at_least
                )

    async def _pgvector(self) -> None:
        with timed(self.samples["pgvector"]), self._bare.cursor(binary=True) as cursor:
            cursor.execute(self._statement, (Vector(self._vector),), prepare=True)
            cursor.fetchall()


async def measure_legs(settings: Settings, size: int, count: int) -> list[Table]:
    """The legs, then whole searches by stage: each question the first time and once more."""
    with closing(EmbeddedPostgres.start(settings.data_dir / "postgres")) as server, _bare(server.dsn) as bare:
        stored = Stored.read(server.dsn)
        async with await App.open(settings) as app:
            legs = await _run_legs(_Legs(app, stored, bare), stored.questions(count + _WARM, "legs"))
            searches = await _run_searches(app, stored.questions(count + _WARM, "searches"))
    legs.title = f"legs, {size:,} chunks"
    searches[0].title, searches[1].title = (f"search, {size:,} chunks, {how}" for how in ("first time", "repeated"))
    return [legs, *searches]


def _bare(dsn: str) -> psycopg.Connection[Any]:
    connection = psycopg.connect(dsn, autocommit=True)
    register_vector(connection)
    # As far as the product looks, so that both find the same.
    connection.execute("SET hnsw.ef_search = 100")
    return connection


async def _run_legs(legs: _Legs, questions: Sequence[str]) -> Table:
    await legs.prepare()
    await legs.ask(questions[:_WARM], reverse=False)
    legs.samples.clear()
    for number, start in enumerate(range(_WARM, len(questions), _BLOCK)):
        await legs.ask(questions[start : start + _BLOCK], reverse=number % 2 == 1)
    table = Table("legs")
    samples = legs.samples
    table.add("embed one question", samples["embed"], "ms")
    table.add("keyword leg", samples["keyword"], "ms")
    table.add("rank_bm25 on the same terms", samples["rank_bm25"], "ms")
    table.add("keyword leg / rank_bm25", _ratio(samples, "keyword", "rank_bm25"), "x", "<= 0.1 at 10,000 chunks")
    table.add("vector leg", samples["vector"], "ms")
    table.add("bare pgvector query", samples["pgvector"], "ms")
    table.add("vector leg / bare pgvector", _ratio(samples, "vector", "pgvector"), "x")
    table.notes.append(
        f"{len(samples['embed'])} questions in turns of {_BLOCK}, each side first in turn; ratios of the medians"
    )
    return table


async def _run_searches(app: App, questions: Sequence[str]) -> list[Table]:
    for question in questions[:_WARM]:
        await app.loop.search(question)
    tables: list[Table] = []
    for _ in range(2):
        results = [await app.loop.search(question) for question in questions[_WARM:]]
        table = Table("")
        for stage in _STAGES:
            table.add(stage, [result.timings_ms.get(stage, 0.0) for result in results], "ms")
        tables.append(table)
    tables[0].notes.append("keyword runs beside embed and vector; signals are those of all candidates and neighbours")
    return tables


def _ratio(samples: dict[str, list[float]], ours: str, theirs: str) -> list[float]:
    # Not question by question: the second of a pair finds the caches warm, which would split those in two heaps.
    return [median(samples[ours]) / median(samples[theirs])]


async def measure_ingest(settings: Settings, runs: int) -> Table:
    """The whole Ingester, reading and cutting included, against the model alone on the same texts, in turn."""
    embedder = LocalEmbedder(threads=settings.embedding.threads, batch_tokens=settings.embedding.batch_tokens)
    await embedder.load()
    async with _empty_database(settings, embedder) as ingester:
        items, texts = _some_documents(ingester)
    spent: dict[str, list[float]] = defaultdict(list)
    for number in range(runs):
        async with _empty_database(settings, embedder) as ingester:
            steps = [_whole(ingester, items, spent["whole"]), _model(embedder, texts, spent["model"])]
            for step in reversed(steps) if number % 2 else steps:
                await step
    table = Table(f"ingest, {len(texts)} chunks of {len(items)} documents")
    for name, key in (("the whole Ingester", "whole"), ("the model alone", "model")):
        table.add(name, [len(texts) / ms * 1000 for ms in spent[key]], "chunks/s")
    table.add(
        "Ingester / model",
        [model / whole for model, whole in zip(spent["model"], spent["whole"], strict=True)],
        "x",
        ">= 0.9",
    )
    table.notes.append(
        f"{runs} runs, alternating; the ratio is the median of each run's own; the model gets all texts at once"
    )
    return table


@asynccontextmanager
async def _empty_database(settings: Settings, embedder: LocalEmbedder) -> AsyncGenerator[Ingester, None]:
    async with scratch_database(settings) as own:
        database = await Database.open(own, embedder.space)
        try:
            yield Ingester(database, embedder, own.ingest)
        finally:
            await database.close()


def _some_documents(ingester: Ingester) -> tuple[list[SourceItem], list[str]]:
    """A few hundred chunks: what to read, and the texts that the model gets of it."""
    items = list(installed_packages())
    random.Random(SEED).shuffle(items)
    chosen: list[SourceItem] = []
    texts: list[str] = []
    for item in items:
        chunks = ingester.prepare(item.read()).chunks
        if len(chunks) <= _LONGEST_DOCUMENT and len(texts) < _INGEST_CHUNKS:
            chosen.append(item)
            texts.extend(chunk.contextual_text for chunk in chunks)
    return chosen, texts


async def _whole(ingester: Ingester, items: Sequence[SourceItem], into: list[float]) -> None:
    with timed(into):
        await ingester.ingest(read_each(items))


async def _model(embedder: LocalEmbedder, texts: Sequence[str], into: list[float]) -> None:
    with timed(into):
        await embedder.embed_documents(texts)
