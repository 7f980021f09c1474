"""ING-6, RUN-4: Voyage through the real SDK, against a server that speaks its API."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Embedder, Vectors
from harry_mcp.providers.factory import build_embedder, embedder_for
from harry_mcp.providers.local.embedder import SPACE
from harry_mcp.providers.voyage import VoyageEmbedder
from harry_mcp.settings import VoyageSection, load_settings
from tests.providers.vendor import Answer, Asked, Vendor, always, vendor

pytestmark = pytest.mark.promise("ING-6")

KEY = "pa-hush"


def vectors(asked: Asked, _: int = 0, dimension: int = 256) -> Answer:
    """Longer texts point elsewhere; nothing has unit length."""
    rows = [np.eye(1, dimension, len(text) % dimension, dtype=np.float32)[0] * 3 for text in asked.body["input"]]
    data = [
        {"object": "embedding", "index": n, "embedding": base64.b64encode(row.tobytes()).decode()}
        for n, row in enumerate(rows)
    ]
    return Answer({"object": "list", "data": data, "model": "voyage-3.5", "usage": {"total_tokens": 7}})


@asynccontextmanager
async def model(server: Vendor, **changes: Any) -> AsyncGenerator[VoyageEmbedder, None]:
    given: dict[str, Any] = {"timeout": 5.0, "retries": 2, "patience": 20.0, "dimension": 256} | changes
    embedder = VoyageEmbedder(KEY, VoyageSection(base_url=server.url, **given))
    try:
        yield embedder
    finally:
        await embedder.close()


async def embed(server: Vendor, *texts: str, **changes: Any) -> Vectors:
    async with model(server, **changes) as embedder:
        return await embedder.embed_queries(texts or ["x"])


async def test_passages_go_in_batches_of_128_and_questions_as_questions() -> None:
    async with vendor(vectors) as server, model(server) as voyage:
        embedder: Embedder = voyage
        texts = ["x" * (n % 200 + 1) for n in range(300)]
        found = await embedder.embed_documents(texts)
        query = await embedder.embed_queries(["  How  long? "])
        assert (await embedder.embed_queries(["How long?"]) == query).all()
        assert (await embedder.embed_documents([])).shape == (0, 256)
    assert found.shape == (300, 256)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-6)
    assert [int(row.argmax()) for row in found] == [len(text) for text in texts]
    assert [len(asked.body["input"]) for asked in server.asked] == [128, 128, 44, 1]
    assert [asked.body["input_type"] for asked in server.asked] == ["document"] * 3 + ["query"]
    assert server.asked[-1].body["input"] == ["How long?"]
    for asked in server.asked:
        assert asked.path == "/embeddings"
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        assert (asked.body["model"], asked.body["output_dimension"]) == ("voyage-3.5", 256)


@pytest.mark.promise("RET-3")
async def test_questions_that_are_not_kept_go_together_in_one_request() -> None:
    async with vendor(vectors) as server, model(server) as embedder:
        both = await embedder.embed_queries(["How?", "Like this."])
        again = await embedder.embed_queries(["Like  this.", "And now?", "How?", "And now?"])
        assert both.shape == (2, 256)
        np.testing.assert_array_equal(again, np.stack([both[1], again[1], both[0], again[1]]))
        await embedder.embed_queries(["How?"], timeout=0)
    assert [asked.body["input"] for asked in server.asked] == [["How?", "Like this."], ["And now?"]]
    assert {asked.body["input_type"] for asked in server.asked} == {"query"}


async def test_the_space_is_voyage_3_5_with_1024_dimensions() -> None:
    embedder = VoyageEmbedder(KEY, VoyageSection())
    assert embedder.space == EmbeddingSpace(provider="voyage", model="voyage-3.5", dimension=1024, version="1")


async def test_retry_after_is_honoured() -> None:
    def answering(asked: Asked, number: int) -> Answer:
        return vectors(asked) if number else Answer({"detail": "Slow."}, status=429, headers={"retry-after": "1"})

    async with vendor(answering) as server:
        started = time.monotonic()
        assert (await embed(server, "a", "")).shape == (2, 256)
    assert time.monotonic() - started >= 1.0
    assert len(server.asked) == 2


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_what_may_pass_is_tried_again_and_no_more_than_the_settings_say(status: int) -> None:
    async with vendor(always(Answer({"detail": "Not now."}, status=status))) as server:
        with pytest.raises(ProviderError, match=f"voyage-3.5 failed with status {status}: Not now") as caught:
            await embed(server, retries=1)
    assert len(server.asked) == 2
    assert KEY not in str(caught.value)


async def test_a_retry_after_beyond_all_patience_is_not_waited_for() -> None:
    later = Answer({"detail": "Tomorrow."}, status=429, headers={"retry-after": "86400"})
    async with vendor(always(later)) as server:
        with pytest.raises(ProviderError, match="It asks to wait 86400 s"):
            await embed(server, patience=5)


async def test_a_server_that_hangs_costs_the_timeout_of_each_attempt() -> None:
    async with vendor(always(Answer(hangs=True))) as server:
        with pytest.raises(ProviderTimeout):
            await embed(server, timeout=0.2, retries=1)
    assert len(server.asked) == 2


GOOD = {"embedding": [1.0] * 256, "index": 0}


@pytest.mark.parametrize(
    "answer",
    [
        Answer("<html>It works!</html>"),
        Answer([]),
        Answer({}),
        Answer({"data": [], "usage": {"total_tokens": 1}}),
        Answer({"data": [{"embedding": [1.0, 2.0], "index": 0}], "usage": {"total_tokens": 1}}),
        Answer({"data": [{"embedding": ["a"] * 256, "index": 0}], "usage": {"total_tokens": 1}}),
        Answer({"data": [{"embedding": [0.0] * 256, "index": 0}], "usage": {"total_tokens": 1}}),
        Answer({"data": [GOOD, GOOD], "usage": {"total_tokens": 1}}),
        Answer({"detail": "Too long."}, status=400),
    ],
    ids=["html", "list", "empty", "none", "short", "words", "zeros", "two", "bad request"],
)
async def test_what_is_no_vector_is_an_error_of_ours(answer: Answer) -> None:
    async with vendor(always(answer)) as server:
        with pytest.raises(ProviderError, match=r"voyage-3\.5"):
            await embed(server)
    assert len(server.asked) == 1


@pytest.mark.promise("RUN-4")
async def test_a_missing_or_wrong_key_says_what_to_do() -> None:
    async with vendor(always(Answer({"detail": "Provided API key is invalid."}, status=401))) as server:
        with pytest.raises(ProviderNotConfigured, match="VOYAGE_API_KEY is missing or refused"):
            await embed(server)
        assert len(server.asked) == 1
        with pytest.raises(ProviderNotConfigured, match="There is no VOYAGE_API_KEY"):
            await VoyageEmbedder("", VoyageSection(base_url=server.url)).load()


@pytest.mark.promise("RUN-4")
async def test_the_key_or_the_setting_chooses_the_model() -> None:
    assert build_embedder(load_settings({})).space == SPACE
    with_key = load_settings({"VOYAGE_API_KEY": KEY})
    voyage = build_embedder(with_key).space
    assert voyage.provider == "voyage"
    assert KEY not in repr(with_key)
    assert build_embedder(load_settings({"VOYAGE_API_KEY": KEY, "HARRY_EMBEDDING__PROVIDER": "local"})).space == SPACE
    assert build_embedder(load_settings({"HARRY_EMBEDDING__PROVIDER": "voyage"})).space == voyage
    # For going back, the model of a space whichever is set; one that is not here fails when used
    assert embedder_for(with_key, SPACE).space == SPACE
    assert embedder_for(load_settings({}), voyage).space == voyage
    absent = embedder_for(load_settings({}), EmbeddingSpace(provider="x", model="y", dimension=3, version="1"))
    with pytest.raises(ProviderNotConfigured, match="This harry has no x/y"):
        await absent.embed_documents(["x"])
