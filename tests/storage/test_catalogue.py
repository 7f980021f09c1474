"""RUN-6: documents are listed by any of their names, and under an address or a folder."""

from __future__ import annotations

import pytest

from harry_mcp.domain.documents import DocumentStatus, SourceDocument, document_id
from harry_mcp.storage.database import Database
from tests.storage.test_documents import ASKED, document

pytestmark = pytest.mark.promise("RUN-6")


async def save(database: Database, source: str, url: str = "", status: DocumentStatus = DocumentStatus.LIVE) -> None:
    made = SourceDocument(source=source, title=source, text="A passage.\n\n", language="en", url=url, topic="Help")
    _, chunks = document("x", ["A passage."])
    async with database.transaction() as unit:
        await unit.documents.save(made, chunks, [ASKED], recipe="test", status=status)


async def test_a_document_is_listed_by_its_names_and_by_what_it_is_under(database: Database) -> None:
    await save(database, "https://e.com/docs/a", "https://e.com/docs/a")
    await save(database, "https://e.com/docs-old/b", "https://e.com/docs-old/b")
    await save(database, "file:///home/docs/c.md", "https://e.com/docs/c", DocumentStatus.ARCHIVED)
    await save(database, "package:httpx")

    async with database.reading() as unit:
        listed = unit.catalogue
        assert [entry.source for entry in await listed.all()] == [
            "file:///home/docs/c.md",
            "https://e.com/docs-old/b",
            "https://e.com/docs/a",
            "package:httpx",
        ]
        (first,) = await listed.all(limit=1)
        assert (first.status, first.chunks, first.version, first.topic) == ("archived", 1, 1, "Help")
        assert [entry.source for entry in await listed.all(status="archived")] == ["file:///home/docs/c.md"]
        for name in ("package:httpx", document_id("package:httpx")):
            assert [entry.source for entry in await listed.named([name])] == ["package:httpx"]
        assert [entry.source for entry in await listed.named(["https://e.com/docs/c"])] == ["file:///home/docs/c.md"]
        assert [entry.source for entry in await listed.named([], ["https://e.com/docs/"])] == [
            "file:///home/docs/c.md",
            "https://e.com/docs/a",
        ]
        assert await listed.named(["https://e.com/docs"]) == []
        assert await listed.named([]) == []
        assert await listed.named(["%", "_"], ["%"]) == []
