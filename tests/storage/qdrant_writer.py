"""A process that changes documents, each with a vector of its own, and tells a Qdrant; one of several at once."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress

import numpy as np

from harry_mcp.domain.documents import Chunk, ContextualChunk, DocumentStatus, SourceDocument
from harry_mcp.errors import NotFoundError
from harry_mcp.providers.factory import build_vector_store
from harry_mcp.providers.local.embedder import SPACE
from harry_mcp.settings import load_settings
from harry_mcp.storage.applying import OutboxApplier
from harry_mcp.storage.database import Database


async def change(database: Database, number: int, dice: np.random.Generator) -> None:
    """One of the documents gets a new text, goes, or is shown or hidden."""
    document = SourceDocument(source=f"test:{number}", title=str(number), text=f"text {dice.integers(10**9)}")
    vectors = dice.normal(size=(2, SPACE.dimension))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    chunks = [
        ContextualChunk(chunk=Chunk(ordinal=i, text=document.text), contextual_text=f"{document.text} {i}")
        for i in range(2)
    ]
    async with database.transaction() as unit:
        known = await unit.documents.get(document.id)
        what = dice.integers(4)
        if known is None or what < 2:
            await unit.documents.save(document, chunks, list(vectors), recipe="test", status=DocumentStatus.LIVE)
        elif what == 2:
            await unit.documents.delete(document.id)
        else:
            hidden = known.status is DocumentStatus.ARCHIVED
            await unit.documents.set_status(document.id, DocumentStatus.LIVE if hidden else DocumentStatus.ARCHIVED)


async def main(seed: int, rounds: int, dies: bool) -> None:
    settings = load_settings()
    database = await Database.open(settings, SPACE)
    store = build_vector_store(settings)
    assert store is not None
    applier = OutboxApplier(database, store, settings.vectors)
    await applier.begin()
    if dies:
        await applier.settled()
        database.on_commit(None)
    dice = np.random.default_rng(seed)
    for _ in range(rounds):
        with suppress(NotFoundError):  # another one removed it meanwhile
            await change(database, int(dice.integers(6)), dice)
    if dies:
        os._exit(9)  # the commits are made, and Qdrant was told nothing
    await applier.close()
    await store.close()
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["dies"]))
