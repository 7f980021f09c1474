"""The corpus of the benchmark and its questions: what every installation has, the installed packages' descriptions.

They are cut by the real pipeline. A corpus of more chunks than that is filled up with distinct chunks that join the
first half of one real chunk to the second half of another. Vectors: a pool of real embeddings serves all; a chunk
outside the pool gets one of the pool, a joined chunk the mean of its halves' two, each with a little noise.

So words and their frequencies are those of real text, but a large corpus speaks of no more than a small one does; most
of its vectors are synthetic. What is written goes through the Ingester, or, where that would take too long, through
COPY into the same tables (bench_bulk.py).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psycopg
from bench_bulk import fill_at_once

from harry_mcp.domain.documents import Chunk, SourceDocument
from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.domain.terms import unpack
from harry_mcp.domain.tokens import index_terms
from harry_mcp.ingest.ingester import Ingester, PreparedDocument
from harry_mcp.ingest.packages import installed_packages
from harry_mcp.ingest.sources import read_each
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import Settings, load_settings
from harry_mcp.storage.database import Database
from harry_mcp.storage.embedded import EmbeddedPostgres

SEED = 20260101
WORDS_A_QUESTION = 6
# Real embeddings that all vectors are made from, and the length of the noise that is added to those of length 1.
_POOL = 600
_NOISE = 0.3
_CHUNKS_A_DOCUMENT = 18
# Chunks up to which a knowledge base is filled by the Ingester.
_BY_INGESTER = 1000
# A mid-frequency term is in this share of the chunks.
_RAREST, _COMMONEST = 0.005, 0.05
_WORD = re.compile(r"(?<![\w.\-/])[A-Za-z]{4,20}(?![\w\-/])")

Vector = npt.NDArray[np.float32]


class Pool:
    """The real embeddings, made once for all sizes."""

    def __init__(self) -> None:
        self._vectors: Vector | None = None

    async def of(self, texts: Sequence[str]) -> Vector:
        if self._vectors is None:
            self._vectors = await LocalEmbedder().embed_documents(texts)
        return self._vectors


class ServedVectors:
    """An Embedder whose vectors are made beforehand, so that ten thousand chunks need no ten thousand embeddings."""

    def __init__(self) -> None:
        self.vectors: dict[str, Vector] = {}

    @property
    def space(self) -> EmbeddingSpace:
        return SPACE

    async def embed_documents(self, texts: Sequence[str]) -> Vector:
        return np.stack([self.vectors[text] for text in texts])

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vector:
        return await self.embed_documents(texts)


@dataclass(frozen=True, slots=True)
class Stored:
    """A filled database as the benchmark needs it: each chunk's text and terms, and in how many chunks a term is."""

    texts: list[str]
    terms: list[list[str]]
    df: dict[str, int]

    @classmethod
    def read(cls, dsn: str) -> Stored:
        with psycopg.connect(dsn, options="-c search_path=harry,public") as connection:
            chunks = connection.execute("SELECT raw_content, terms FROM chunks ORDER BY id").fetchall()
            known = connection.execute("SELECT id, term, df FROM terms").fetchall()
        names = {number: term for number, term, _ in known}
        return cls(
            [text for text, _ in chunks],
            [[names[number] for number in unpack(packed)] for _, packed in chunks],
            {term: df for _, term, df in known},
        )

    def questions(self, count: int, purpose: str) -> list[str]:
        """Distinct questions of six mid-frequency words that follow one another in a chunk; the same every time."""
        chance = random.Random(f"{SEED}/{purpose}")
        found: dict[str, None] = {}
        for _ in range(count * 100):
            words = self._words(chance.choice(self.texts))
            if len(words) >= WORDS_A_QUESTION:
                start = chance.randrange(len(words) - WORDS_A_QUESTION + 1)
                found[f"What is {' '.join(words[start : start + WORDS_A_QUESTION])}?"] = None
            if len(found) == count:
                break
        return list(found)

    def _words(self, text: str) -> list[str]:
        """The words with one mid-frequency term each, each term once, in order."""
        low, high = max(2.0, _RAREST * len(self.texts)), _COMMONEST * len(self.texts)
        words: dict[str, str] = {}
        for word in _WORD.findall(text):
            terms = index_terms(word)
            if len(terms) == 1 and low <= self.df.get(terms[0], 0) <= high:
                words.setdefault(terms[0], word)
        return list(words.values())


def settings_for(folder: Path) -> Settings:
    """The product's own settings, whatever the environment says, with a data folder of the benchmark's."""
    return load_settings({"HARRY_DATA_DIR": str(folder)})


async def fill(settings: Settings, size: int, pool: Pool) -> int:
    """Bring the data folder's knowledge base to ``size`` chunks unless it is there; the number it has."""
    served = ServedVectors()
    database = await Database.open(settings, SPACE)
    try:
        async with database.reading() as unit:
            there = sum(row.chunks for row in await unit.documents.counts())
        if there == size:
            return there
        ingester = Ingester(database, served, settings.ingest)
        maker = _Maker(ingester, random.Random(SEED))
        documents = maker.documents(size)
        served.vectors = await maker.vectors(pool)
        if there or size <= _BY_INGESTER:
            return there + (await ingester.ingest(documents)).chunks_written
        with closing(EmbeddedPostgres.start(settings.data_dir / "postgres")) as server:
            there = fill_at_once(server.dsn, documents, served.vectors)
        await database.vacuum()
        return there
    finally:
        await database.close()


class _Maker:
    """Makes documents of as many chunks as are wanted, and remembers what each is made of."""

    def __init__(self, ingester: Ingester, chance: random.Random) -> None:
        self._ingester = ingester
        self._chance = chance
        read = (item for item in read_each(installed_packages()) if isinstance(item, SourceDocument))
        self._real = [ingester.prepare(document) for document in read]
        chance.shuffle(self._real)
        self._texts = [chunk.chunk.text for item in self._real for chunk in item.chunks]
        self._owners = [item.document for item in self._real for _ in item.chunks]
        # Each contextual text with the numbers of the real chunks that it is made of.
        self._made_of: dict[str, tuple[int, int]] = {}
        self._paired: set[tuple[int, int]] = set()

    def documents(self, size: int) -> list[PreparedDocument]:
        """The real documents as they are, the last one cut to size, and joined ones for what is wanting."""
        documents: list[PreparedDocument] = []
        left = size
        for item in self._real:
            chunks = item.chunks[:left]
            if chunks:
                documents.append(PreparedDocument(document=item.document, chunks=chunks, recipe="bench"))
                left -= len(chunks)
        texts = (chunk.contextual_text for item in documents for chunk in item.chunks)
        self._made_of = {text: (number, number) for number, text in enumerate(texts)}
        documents.extend(self._joined(left))
        return documents

    def _joined(self, wanted: int) -> Iterator[PreparedDocument]:
        for start in range(0, wanted, _CHUNKS_A_DOCUMENT):
            pairs = [self._pair() for _ in range(min(_CHUNKS_A_DOCUMENT, wanted - start))]
            texts = [_join(self._texts[a], self._texts[b]) for a, b in pairs]
            owner = self._owners[pairs[0][0]]
            document = SourceDocument(
                source=f"bench:{start}",
                title=f"{owner.title} {self._owners[pairs[0][1]].title}",
                text="\n\n".join(texts),
                language=owner.language,
            )
            chunks = [Chunk(ordinal=ordinal, text=text) for ordinal, text in enumerate(texts)]
            prepared = self._ingester.prepare_chunks(document, chunks, "bench")
            made = (chunk.contextual_text for chunk in prepared.chunks)
            self._made_of.update(zip(made, pairs, strict=True))
            yield prepared

    def _pair(self) -> tuple[int, int]:
        while True:
            first, second = self._chance.sample(range(len(self._texts)), 2)
            if (first, second) not in self._paired:
                self._paired.add((first, second))
                return first, second

    async def vectors(self, embeddings: Pool) -> dict[str, Vector]:
        """A vector of length 1 for each text, from the real embeddings of the first few hundred chunks."""
        first = [chunk.contextual_text for item in self._real for chunk in item.chunks][:_POOL]
        pool = await embeddings.of(first)
        noise = np.random.default_rng(SEED)
        vectors: dict[str, Vector] = {}
        for text, (a, b) in self._made_of.items():
            vector = pool[a % len(pool)] + pool[b % len(pool)]
            if a != b or a >= len(pool):
                vector = vector / np.linalg.norm(vector) + _noise(noise)
            vectors[text] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return vectors


def _noise(generator: np.random.Generator) -> npt.NDArray[np.float64]:
    return generator.normal(scale=_NOISE / SPACE.dimension**0.5, size=SPACE.dimension)


def _join(first: str, second: str) -> str:
    """The first half of one text and the second half of another, cut at a space."""
    middle = first.find(" ", len(first) // 2)
    start = second.find(" ", len(second) // 2)
    return f"{first[: middle if middle > 0 else None]} {second[max(start, 0) :].strip()}"
