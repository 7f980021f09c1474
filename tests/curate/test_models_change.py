"""CUR-7, ING-6: a rewrite is undone exactly also after the embedding model was changed, and changed back."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.errors import SpaceMismatch
from harry_mcp.ingest.reembedding import reembed
from harry_mcp.profile import DomainProfile
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from tests.curate.test_review import CURATOR, TEXTS, act, ingest
from tests.ingest.second_model import SECOND, SecondModel
from tests.storage.recount import rows

pytestmark = [pytest.mark.promise("CUR-7"), pytest.mark.promise("ING-6")]
_VECTORS = """
SELECT s.version, c.public_id, v.searchable, v.embedding::text
  FROM chunk_vectors v JOIN embedding_spaces s ON s.id = v.space_id JOIN chunks c ON c.id = v.chunk_id ORDER BY 1, 2
"""


async def test_what_a_model_never_saw_is_embedded_when_it_comes_back(
    settings: Settings, app: App, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    keys, *_ = await ingest(app)
    before = await rows(connection, _VECTORS)
    rewritten = await act(app, ReviewAction.REWRITE, keys, text="Quite another text.")
    model = SecondModel(embedder)
    await reembed(app.database, model)
    with pytest.raises(SpaceMismatch):  # this process still has the model of before
        await app.loop.review.rollback(rewritten.action_id, CURATOR)
    database = await Database.open(settings, SECOND)
    try:
        changed = App(settings, DomainProfile(), database, model)
        await changed.loop.review.rollback(rewritten.action_id, CURATOR)
        found = await changed.loop.search("How do I rotate an API key?", record=False)
        assert found.hits[0].text == TEXTS["Keys"]
        assert found.hits[0].candidate.vector_rank == 1
        after = await rows(connection, _VECTORS)
        assert [row for row in after if row[0] != SECOND.version] == before, "those of the old model came back as well"
        (query,) = await model.embed_documents([f"Keys\n\n{TEXTS['Keys']}"])
        assert [row[2] for row in after if row[0] == SECOND.version] == [True] * 3
        assert query.shape == (SECOND.dimension,)
    finally:
        await database.close()


async def test_what_was_hidden_while_the_model_changed_is_found_again(
    settings: Settings, app: App, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    ids = await ingest(app)
    archived = await act(app, ReviewAction.ARCHIVE, *ids)
    model = SecondModel(embedder)
    await reembed(app.database, model)
    database = await Database.open(settings, SECOND)
    try:
        changed = App(settings, DomainProfile(), database, model)
        assert (await changed.loop.search("How do I rotate an API key?", record=False)).hits == ()
        await changed.loop.review.rollback(archived.action_id, CURATOR)
        found = await changed.loop.search("How do I rotate an API key?", record=False)
        assert (found.hits[0].text, found.hits[0].candidate.vector_rank) == (TEXTS["Keys"], 1)
        assert {row[2] for row in await rows(connection, _VECTORS)} == {True}, "in both spaces"
        rewritten = await act(
            changed, ReviewAction.REWRITE, ids[0], text="Rotate an API key where the new model reads."
        )
        await reembed(database, embedder)
    finally:
        await database.close()
    # Back on the first model: it has vectors of what the rewrite replaced, and none were made anew.
    await app.loop.review.rollback(rewritten.action_id, CURATOR)
    again = await app.loop.search("How do I rotate an API key?", record=False)
    assert (again.hits[0].text, again.hits[0].candidate.vector_rank) == (TEXTS["Keys"], 1)
    assert {row[2] for row in await rows(connection, _VECTORS)} == {True}
    assert len(await rows(connection, _VECTORS)) == 6
