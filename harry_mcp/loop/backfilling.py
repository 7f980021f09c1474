"""Vectors for what is remembered and has none: after a change of the embedding model, or an import."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from harry_mcp.errors import ProviderError, StorageError
from harry_mcp.loop.lesson_vectors import lesson_vectors
from harry_mcp.loop.opinions import may_warn
from harry_mcp.loop.questions import Questions
from harry_mcp.ports import Embedder
from harry_mcp.storage.database import Database
from harry_mcp.storage.memories import MemoryKind, MemoryText

log = logging.getLogger(__name__)
_BATCH = 128
# What must not be served comes first, or an official answer would be found before what forbids it.
_ORDER = (
    MemoryKind.NEVER_SERVE,
    MemoryKind.CORRECTION,
    MemoryKind.ASKED,
    MemoryKind.FAILURE,
    MemoryKind.VERIFIED,
)


async def embed_missing(database: Database, embedder: Embedder, questions: Questions) -> int:
    """Embed every memory that this space lacks, in batches; how many there were.

    A run that is ended goes on where it was. A model or database that is down ends it, with a line in the log: what
    lacks a vector is not recalled meanwhile, and the next start tries again.
    """
    done = 0
    try:
        for kind in _ORDER:
            done += await _fill(database, embedder, questions, kind)
    except (ProviderError, StorageError) as error:
        log.warning("some memories have no vector yet and are not recalled: %s", error)
    return done


async def _fill(database: Database, embedder: Embedder, questions: Questions, kind: MemoryKind) -> int:
    done = 0
    while True:
        async with database.reading() as unit:
            texts = await unit.memories.missing(kind, _BATCH)
            lessons = await unit.corrections.by_ids(_owners(texts)) if kind is MemoryKind.CORRECTION else {}
            failures = await unit.feedback.failures(_owners(texts)) if kind is MemoryKind.FAILURE else {}
        if not texts:
            return done
        # A lesson is a passage; all others are questions, embedded as a search embeds one.
        if kind is MemoryKind.CORRECTION:
            made = await lesson_vectors(embedder, [lessons[text.owner_id] for text in texts])
        else:
            made = list(await questions.vectors([text.text for text in texts]))
        vectors = dict(zip(_owners(texts), made, strict=True))
        silent = {key for key, each in failures.items() if not may_warn(each.question, each.comment, each.source_urls)}
        async with database.transaction() as unit:
            # Asked again: while the model was at work, a curator may have decided about one of them.
            still = [text for text in await unit.memories.missing(kind, _BATCH) if text.owner_id in vectors]
            put = [replace(text, active=text.active and text.owner_id not in silent) for text in still]
            if put:
                await unit.memories.put(kind, put, [vectors[text.owner_id] for text in put])
        done += len(texts)


def _owners(texts: Sequence[MemoryText]) -> list[str]:
    return [text.owner_id for text in texts]
