"""What a rewrite replaced, kept whole: the text, its chunks under their numbers, and their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from harry_mcp.storage import queries
from harry_mcp.storage.spaces import ChunkText, StoredSpace

_SQL = queries.load("versions")


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version that is kept."""

    version: int
    title: str
    characters: int
    replaced_at: datetime
    action_id: str


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    total: int


class Versions:
    """The kept versions as one connection sees them. Writing belongs into a transaction with the writers' queue."""

    def __init__(self, connection: AsyncConnection[Any], space: StoredSpace) -> None:
        self._connection = connection
        self._space = space

    async def keep(self, action_id: str, document_id: str) -> None:
        """Keep a document as it is now."""
        parameters = {"action_id": action_id, "document_id": document_id}
        for statement in (_SQL["keep_document"], _SQL["keep_chunks"], _SQL["keep_vectors"]):
            await queries.run(self._connection, statement, parameters)

    async def note_source(self, action_id: str, document_id: str) -> None:
        """Note that the text of a document stands in for its source, once it replaced the one that was kept."""
        parameters = {"action_id": action_id, "document_id": document_id}
        await queries.run(self._connection, _SQL["note_source"], parameters)

    async def bring_back(self, action_id: str, document_id: str) -> None:
        """Make a document what an action kept of it. No search may see it meanwhile: its status is a hidden one."""
        parameters = {"action_id": action_id, "document_id": document_id}
        for statement in (_SQL["drop_chunks"], _SQL["bring_document"], _SQL["bring_chunks"], _SQL["bring_vectors"]):
            await queries.run(self._connection, statement, parameters)

    async def without_vector(self, action_id: str) -> list[ChunkText]:
        """The kept chunks of documents that lack a vector in the space in service, document by document."""
        parameters = {"action_id": action_id, "space": self._space.id}
        return await queries.many(self._connection, _SQL["without_vector"], ChunkText, parameters)

    async def forget_vectors(self, chunk_ids: Sequence[int]) -> None:
        """Remove the vectors that chunks have in the space in service, to be given others."""
        await queries.run(self._connection, _SQL["forget_vectors"], {"space": self._space.id, "ids": list(chunk_ids)})

    async def of_document(self, document_id: str) -> list[VersionRow]:
        """The kept versions of a document that rewrites replaced which were not undone, the newest first."""
        return await queries.many(self._connection, _SQL["of_document"], VersionRow, {"document_id": document_id})

    async def text(self, action_id: str, document_id: str) -> str:
        """The text of a kept version; empty when it is not there."""
        parameters = {"action_id": action_id, "document_id": document_id}
        row = await queries.one(self._connection, _SQL["text"], _Text, parameters)
        return row.text if row else ""
