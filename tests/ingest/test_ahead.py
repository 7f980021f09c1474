"""ING-5, ING-6: documents reach the model in order, in batches that let it wait for nobody, and not all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from harry_mcp.domain.documents import Chunk, SourceDocument
from harry_mcp.errors import ProviderError, SourceError
from harry_mcp.ingest.ahead import batches, embedded
from harry_mcp.ingest.preparing import with_context
from harry_mcp.ingest.running import ChunkVectors, Work

pytestmark = [pytest.mark.promise("ING-5"), pytest.mark.promise("ING-6")]

ENOUGH = 128


def work(number: int, chunks: int) -> Work:
    document = SourceDocument(source=f"s:{number}", title="", text="words")
    prepared = with_context(document, [Chunk(ordinal=i, text="words") for i in range(chunks)], "recipe")
    return Work(document=document, prepared=prepared, recipe="recipe", is_new=True)


class Line:
    """Documents that are prepared one at a time, and a model that counts what it gets."""

    def __init__(self, works: list[Work], *, fails_at: int = -1, model_fails_at: int = -1) -> None:
        self._works = works
        self._fails_at = fails_at
        self._model_fails_at = model_fails_at
        self.prepared = 0
        self.embedded: list[int] = []
        self.given: list[str] = []
        self.most_waiting = 0

    async def prepare(self) -> list[Work] | None:
        await asyncio.sleep(0)  # as reading does, let others have a turn
        if self.prepared == self._fails_at:
            raise SourceError("The source is gone.")
        if self.prepared == len(self._works):
            return None
        self.prepared += 1
        done = sum(self.embedded)
        self.most_waiting = max(self.most_waiting, sum(len(w.chunks) for w in self._works[: self.prepared]) - done)
        return [self._works[self.prepared - 1]]

    async def embed(self, works: list[Work]) -> ChunkVectors:
        if len(self.embedded) == self._model_fails_at:
            raise ProviderError("The model is gone.")
        self.embedded.append(sum(len(w.chunks) for w in works))
        await asyncio.sleep(0)
        return [[np.zeros(1, dtype=np.float32)] * len(w.chunks) for w in works]

    async def run(self) -> None:
        async for works, vectors in embedded(self.prepare, self.embed):
            assert [len(each) for each in vectors] == [len(w.chunks) for w in works]
            self.given.extend(w.document.source for w in works)


async def test_documents_keep_their_order_and_the_model_gets_no_more_than_it_takes() -> None:
    line = Line([work(number, 5) for number in range(300)])
    await line.run()
    assert line.given == [f"s:{number}" for number in range(300)]
    assert sum(line.embedded) == 1500
    assert line.embedded[0] <= 20, "the first batch does not wait for many documents"
    assert line.embedded[-1] <= 20, "little is left to write when the last one is embedded"
    assert max(line.embedded) <= ENOUGH + 5
    assert line.most_waiting <= 4 * ENOUGH, "memory is bounded"


async def test_a_document_is_never_divided_and_one_without_chunks_is_given_out_too() -> None:
    line = Line([work(0, 0), work(1, 1000), work(2, 0), work(3, 1)])
    await line.run()
    assert line.given == ["s:0", "s:1", "s:2", "s:3"]
    assert 1000 in [size // 10 * 10 for size in line.embedded]


async def test_nothing_to_do_is_nothing_done() -> None:
    line = Line([])
    await line.run()
    assert (line.given, line.embedded) == ([], [])


async def test_what_was_prepared_before_a_failure_is_given_out_before_it_is_raised() -> None:
    line = Line([work(number, 5) for number in range(100)], fails_at=50)
    with pytest.raises(SourceError, match="The source is gone"):
        await line.run()
    assert line.given == [f"s:{number}" for number in range(50)]


async def test_what_was_embedded_before_the_model_failed_is_given_out() -> None:
    line = Line([work(number, 5) for number in range(100)], model_fails_at=3)
    with pytest.raises(ProviderError, match="The model is gone"):
        await line.run()
    assert line.given == [f"s:{number}" for number in range(sum(line.embedded) // 5)]


def test_batches_begin_small_and_grow() -> None:
    def documents() -> Iterator[SourceDocument]:
        yield from (SourceDocument(source=f"s:{number}", title="", text="x" * 900) for number in range(600))

    sizes = [len(batch) for batch in batches(documents(), 900)]
    assert sizes[:4] == [8, 16, 32, 64]
    assert max(sizes) == 64
    assert sum(sizes) == 600
