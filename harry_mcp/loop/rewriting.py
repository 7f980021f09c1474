"""A curator's new text of a document made ready outside of any transaction: cleaned, cut, with contexts and vectors."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.recent import Recent
from harry_mcp.errors import InputError
from harry_mcp.ingest.decoding import clean_text
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.tidying import tidy_markdown
from harry_mcp.stages.curate.review import Rewriting
from harry_mcp.storage.database import Database

_LONGEST_TITLE = 300
_KEPT = 4


class Rewriter:
    """Makes texts ready that a review is about to store."""

    def __init__(self, database: Database, ingester: Ingester) -> None:
        self._database = database
        self._ingester = ingester
        # A preview and the act after it make the same; contexts by a model are paid for once.
        self._made: Recent[tuple[str, str], Rewriting] = Recent(_KEPT)

    async def make(self, document_id: str, text: str, title: str) -> Rewriting | None:
        """A document with a new text, a new title or both, an empty one being kept; None when it is not there.

        Raises:
            InputError: neither has a word in it.
            ProviderError: the text could not be embedded.
        """
        text = clean_text(tidy_markdown(clean_text(text)))
        title = " ".join(clean_text(title).split())[:_LONGEST_TITLE].rstrip()
        if not _has_words(text + title):
            raise InputError("A rewrite needs the whole new text, or a new title, with words in it.")
        if text and not _has_words(text):
            raise InputError("The new text holds no word. Archive the document instead.")
        async with self._database.reading() as unit:
            document = await unit.documents.get(document_id)
            if document is None:
                return None
            old = (await unit.documents.text(document.id, 0, document.characters)).text
        made = SourceDocument(
            source=document.source,
            title=title or document.title,
            text=text or old,
            url=document.url,
            topic=document.topic,
            language=document.language,
        )
        key = (document.content_hash, made.content_hash)
        known = self._made.get(key)
        if known is not None and known.document == made:
            return known
        ready, vectors = await self._ingester.ready(made)
        rewriting = Rewriting(
            document=made, chunks=ready.chunks, vectors=vectors, recipe=ready.recipe, made_from=document.content_hash
        )
        self._made.put(key, rewriting)
        return rewriting

    async def fresh_vectors(self, action_id: str) -> Mapping[int, npt.NDArray[np.float32]]:
        """Vectors of what a rewrite replaced, by the number of the chunk, where the space in service has none of it.

        Raises:
            ProviderError: it could not be embedded.
        """
        async with self._database.reading() as unit:
            chunks = await unit.versions.without_vector(action_id)
        fresh: dict[int, npt.NDArray[np.float32]] = {}
        for _, group in groupby(chunks, key=lambda chunk: chunk.document_id):
            own = list(group)
            vectors = await self._ingester.vectors([chunk.text for chunk in own])
            fresh.update(zip((chunk.id for chunk in own), vectors, strict=True))
        return fresh


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)
