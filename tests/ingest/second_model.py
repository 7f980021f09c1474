"""A second real embedding model for tests, and a process that re-embeds a knowledge base with it.

The local model with prefixes, as the E5 family reads them, is another model: its vectors lie elsewhere.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from harry_mcp.ingest.reembedding import reembed
from harry_mcp.ports import Vectors
from harry_mcp.providers.local.embedder import SPACE, LocalEmbedder
from harry_mcp.settings import load_settings
from harry_mcp.storage.database import Database

SECOND = replace(SPACE, version="prefixed")


class SecondModel:
    """The local model with a prefix, and what it was given to embed. ``before`` runs before every batch."""

    space = SECOND

    def __init__(self, inner: LocalEmbedder, before: Callable[[], Awaitable[None]] | None = None) -> None:
        self._inner = inner
        self._before = before
        self.batches: list[int] = []

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self._before is not None:
            await self._before()
        self.batches.append(len(texts))
        return await self._inner.embed_documents([f"passage: {text}" for text in texts])

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vectors:
        return await self._inner.embed_queries([f"query: {text}" for text in texts], timeout=timeout)


async def _main() -> None:
    model = SecondModel(LocalEmbedder())
    database = await Database.open(load_settings(), model.space, any_space=True)
    try:
        await reembed(database, model, report=lambda done, of: print(done, of, flush=True))
    finally:
        await database.close()


if __name__ == "__main__":
    if sys.platform == "win32":
        raise SystemExit("psycopg needs another event loop here")
    asyncio.run(_main())
