"""ING-4, ING-6: contextualised embeddings through the real SDK: passages together, documents whole."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from psycopg import AsyncConnection

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import ProviderError
from harry_mcp.ingest import reembedding
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.reembedding import reembed
from harry_mcp.ports import DocumentEmbedder
from harry_mcp.providers import voyage_context
from harry_mcp.providers.factory import build_embedder
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.providers.voyage_context import VoyageContextEmbedder
from harry_mcp.settings import Settings, VoyageSection, load_settings
from harry_mcp.storage.database import Database
from tests.ingest.test_situating import page
from tests.providers.vendor import Answer, Asked, Vendor, always, vendor
from tests.storage.recount import rows

pytestmark = [pytest.mark.promise("ING-4"), pytest.mark.promise("ING-6")]


def expected(group: list[str], text: str) -> Any:
    """A direction that depends on the passage and on all of its document."""
    seed = hashlib.sha256("|".join([text, *group]).encode()).digest()
    made = np.random.default_rng(list(seed)).normal(size=64).astype(np.float32)
    return made / np.linalg.norm(made)


def answering(asked: Asked, _: int) -> Answer:
    data = [
        {
            "index": number,
            "data": [
                {"index": n, "embedding": base64.b64encode((expected(group, text) * 2).tobytes()).decode()}
                for n, text in enumerate(group)
            ],
        }
        for number, group in enumerate(asked.body["inputs"])
    ]
    return Answer({"object": "list", "data": data, "model": "voyage-context-3", "usage": {"total_tokens": 7}})


@asynccontextmanager
async def model(server: Vendor) -> AsyncGenerator[VoyageContextEmbedder, None]:
    section = VoyageSection(base_url=server.url, model="voyage-context-3", dimension=64, retries=0)
    embedder = VoyageContextEmbedder("pa-hush", section)
    try:
        yield embedder
    finally:
        await embedder.close()


async def test_passages_are_sent_with_their_document_and_questions_alone() -> None:
    documents = [["one", "two"], [], ["three"]]
    async with vendor(answering) as server, model(server) as contextual:
        embedder: DocumentEmbedder = contextual
        first, nothing, last = await embedder.embed_passages(documents)
        (query,) = await embedder.embed_queries(["Which?"])
    np.testing.assert_allclose(first, [expected(documents[0], text) for text in documents[0]], atol=1e-5)
    np.testing.assert_allclose(last, [expected(["three"], "three")], atol=1e-5)
    assert nothing.shape == (0, 64)
    np.testing.assert_allclose(query, expected(["Which?"], "Which?"), atol=1e-5)
    passages, question = server.asked
    assert passages.path == "/contextualizedembeddings"
    assert (passages.body["inputs"], passages.body["input_type"]) == ([["one", "two"], ["three"]], "document")
    assert (question.body["inputs"], question.body["input_type"]) == ([["Which?"]], "query")
    assert passages.body["model"] == "voyage-context-3"


async def test_long_documents_go_in_parts_and_many_in_several_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voyage_context, "_DOCUMENT_BYTES", 10)
    monkeypatch.setattr(voyage_context, "_REQUEST_BYTES", 20)
    documents = [["aaaa", "bbbb", "cccc", "d" * 50], ["eeee"], ["ffff"]]
    async with vendor(answering) as server, model(server) as embedder:
        found = await embedder.embed_passages(documents)
    assert [len(vectors) for vectors in found] == [4, 1, 1]
    assert [asked.body["inputs"] for asked in server.asked] == [
        [["aaaa", "bbbb"], ["cccc"]],
        [["d" * 50]],
        [["eeee"], ["ffff"]],
    ]
    np.testing.assert_allclose(found[0][2], expected(["cccc"], "cccc"), atol=1e-5)


async def test_too_few_vectors_are_an_error_of_ours() -> None:
    async with vendor(always(Answer({"data": [], "usage": {"total_tokens": 1}}))) as server, model(server) as embedder:
        with pytest.raises(ProviderError, match="voyage-context-3"):
            await embedder.embed_passages([["one"]])


def test_the_name_of_the_model_chooses_the_kind() -> None:
    chosen = {"VOYAGE_API_KEY": "pa-hush", "HARRY_VOYAGE__MODEL": "voyage-context-3"}
    assert isinstance(build_embedder(load_settings(chosen)), DocumentEmbedder)
    assert not isinstance(build_embedder(load_settings({"VOYAGE_API_KEY": "pa-hush"})), DocumentEmbedder)


async def _stored(connection: AsyncConnection[Any]) -> None:
    """Every vector is the one that its passage has among all passages of its document."""
    found = await rows(
        connection,
        "SELECT c.document_id, c.contextual_content, v.embedding::text FROM chunks c JOIN chunk_vectors v "
        "ON v.chunk_id = c.id JOIN embedding_spaces s ON s.id = v.space_id AND s.provider = 'voyage' "
        "ORDER BY c.document_id, c.ordinal",
    )
    documents: dict[str, list[str]] = {}
    for document, text, _ in found:
        documents.setdefault(document, []).append(text)
    for document, text, vector in found:
        stored = np.array([float(value) for value in vector.strip("[]").split(",")])
        np.testing.assert_allclose(stored, expected(documents[document], text), atol=1e-4)


async def test_a_knowledge_base_is_moved_to_it_document_by_document(
    settings: Settings,
    database: Database,
    embedder: LocalEmbedder,
    connection: AsyncConnection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reembedding, "_BATCH", 2)
    documents: list[SourceDocument] = [page(name) for name in ("one", "two", "three")]
    await Ingester(database, embedder, settings.ingest).ingest(documents)
    async with vendor(answering) as server, model(server) as contextual:
        outcome = await reembed(database, contextual)
        assert (outcome.embedded, outcome.switched) == (12, True)
        assert [len(group) for asked in server.asked for group in asked.body["inputs"]] == [4, 4, 4]
        await _stored(connection)
        # A changed passage moves the vectors of the others of its document
        moved = await Database.open(settings, contextual.space)
        await Ingester(moved, contextual, settings.ingest).ingest([page("two", Hooks="Hooks are gone. " * 12)])
        await moved.close()
    await _stored(connection)
