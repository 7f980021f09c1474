"""The words of the knowledge base: which are names, and which exist at all."""

from __future__ import annotations

import asyncio
import time

from harry_mcp.domain.differences import Vocabulary
from harry_mcp.storage.database import Database

# Seconds after which the words are counted anew: documents change slowly, and words slower.
_FRESH = 3600.0
# Characters that are read for it, at some 2 MB a second, and of one document.
_MOST = 1_500_000
_OF_ONE = 15_000


class Words:
    """The vocabulary, counted at the first need and then now and again."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._gate = asyncio.Lock()
        self._counted = -_FRESH
        self._vocabulary = Vocabulary()

    async def vocabulary(self) -> Vocabulary:
        """The words of the documents, the last changed ones first where there are too many to read.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached.
        """
        async with self._gate:
            if time.monotonic() - self._counted >= _FRESH:
                async with self._database.reading() as unit:
                    texts = await unit.documents.beginnings(each=_OF_ONE, total=_MOST)
                self._vocabulary = await asyncio.to_thread(Vocabulary.of, texts)
                # An empty knowledge base will be filled soon.
                self._counted = time.monotonic() if texts else -_FRESH
            return self._vocabulary
