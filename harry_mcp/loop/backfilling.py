"""Vectors for what is remembered and has none: after a change of the embedding model, or an import."""

from __future__ import annotations

import logging

from harry_mcp.errors import ProviderError, StorageError
from harry_mcp.loop.lesson_vectors import lesson_vectors
from harry_mcp.loop.questions import Questions
from harry_mcp.ports import Embedder
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind

log = logging.getLogger(__name__)
_BATCH = 128


async def embed_missing(database: Database, embedder: Embedder, questions: Questions) -> int:
    """Embed every memory that this space lacks, in batches; how many there were.

    A run that is ended goes on where it was. A model or database that is down ends it, with a line in the log: what
    lacks a vector is not recalled meanwhile, and the next start tries again.
    """
    done = 0
    try:
        for kind in MemoryKind:
            done += await _fill(database, embedder, questions, kind)
    except (ProviderError, StorageError) as error:
        log.warning("some memories have no vector yet and are not recalled: %s", error)
    return done


async def _fill(database: Database, embedder: Embedder, questions: Questions, kind: MemoryKind) -> int:
    done = 0
    lessons = kind is MemoryKind.CORRECTION
    while True:
        async with database.reading() as unit:
            texts = await unit.memories.missing(kind, _BATCH)
            known = await unit.corrections.by_ids([text.owner_id for text in texts]) if lessons else {}
        if not texts:
            return done
        # A lesson is a passage; all others are questions, embedded as a search embeds one.
        if lessons:
            vectors = await lesson_vectors(embedder, [known[text.owner_id] for text in texts])
        else:
            vectors = list(await questions.vectors([text.text for text in texts]))
        async with database.transaction() as unit:
            await unit.memories.put(kind, texts, vectors)
        done += len(texts)
