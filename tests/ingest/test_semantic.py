"""ING-3: chunks cut by meaning keep every promise of those cut by headings, and change where the subject does."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from psycopg import AsyncConnection

from harry_mcp.domain.documents import Chunk, SourceDocument
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.semantic import SemanticPlan
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.settings import Settings
from harry_mcp.storage.database import Database
from tests.ingest.test_chunking import DOCUMENTS, HOSTILE, check_chunks
from tests.ingest.test_ingester import Counting
from tests.storage.recount import assert_index_is_exact, rows

pytestmark = pytest.mark.promise("ING-3")


def made_vectors(windows: Sequence[str]) -> list[npt.NDArray[np.float32]]:
    """Vectors that know the text and nothing of its meaning."""
    seeds = [int.from_bytes(hashlib.sha256(window.encode("utf-8", "replace")).digest()[:4]) for window in windows]
    raw = [np.random.default_rng(seed).normal(size=8) for seed in seeds]
    return [(each / np.linalg.norm(each)).astype(np.float32) for each in raw]


def check(
    text: str, percentile: float = 95, *, target: int = 900, minimum: int = 120, maximum: int = 1400
) -> list[Chunk]:
    plan = SemanticPlan(text, target=target, minimum=minimum, maximum=maximum)
    chunks = plan.chunks(made_vectors(plan.windows), percentile)
    check_chunks(text, chunks, maximum)
    return chunks


@given(DOCUMENTS, st.sampled_from([1.0, 50.0, 95.0, 100.0]))
@examples(max_examples=100, deadline=None)
@example("- > - ```\n  x", 95.0)
@example("#\n\n##\n\n# #", 95.0)
def test_every_character_is_in_one_chunk(text: str, percentile: float) -> None:
    assert check(text, percentile) == check(text, percentile)
    check(text, percentile, target=60, minimum=20, maximum=90)


@given(st.text(alphabet=st.characters(), max_size=400))
@examples(max_examples=100, deadline=None)
def test_any_text_at_all_can_be_cut(text: str) -> None:
    check(text, 50, target=30, minimum=5, maximum=40)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_take_seconds(text: str) -> None:
    started = time.perf_counter()
    plan = SemanticPlan(text)
    same = np.eye(1, 8, dtype=np.float32)[0]
    check_chunks(text, plan.chunks([same] * len(plan.windows), 95), 1400)
    assert time.perf_counter() - started < 30


KEYS = (
    "An API key lets a program act for an account. Keep every API key in a vault. Rotate an API key once a month. "
    "An old API key works for one more hour. Delete an API key that nobody uses."
)
ANIMALS = (
    "Zebras drink at the water hole before sunrise. Giraffes eat the leaves of tall trees. Lions sleep through the "
    "heat of the day. Elephants walk far to find water. Hyenas hunt in packs at night."
)


async def semantic(embedder: LocalEmbedder, text: str, percentile: float = 85, minimum: int = 120) -> list[Chunk]:
    plan = SemanticPlan(text, minimum=minimum)
    chunks = plan.chunks(list(await embedder.embed_documents(plan.windows)), percentile)
    check_chunks(text, chunks, 1400)
    return chunks


async def test_one_paragraph_is_cut_where_its_subject_changes(embedder: LocalEmbedder) -> None:
    first, second = await semantic(embedder, f"{KEYS} {ANIMALS}", percentile=95)
    assert first.text == KEYS
    assert second.text == ANIMALS
    assert (second.start, second.end) == (len(KEYS) + 1, len(KEYS) + 1 + len(ANIMALS))


async def test_the_minimum_is_kept(embedder: LocalEmbedder) -> None:
    for minimum in (50, 120, 250):
        chunks = await semantic(embedder, f"{KEYS} {ANIMALS} {KEYS}", percentile=20, minimum=minimum)
        assert all(len(chunk.text) >= minimum for chunk in chunks)
    assert len(await semantic(embedder, f"{KEYS} {ANIMALS}", percentile=1, minimum=2000)) == 1


async def test_headings_cut_and_stay_with_their_text_and_code_stays_whole(embedder: LocalEmbedder) -> None:
    code = "```python\n" + "\n\n".join(f"def f{n}():\n    return {n}" for n in range(35)) + "\n```"
    table = "| a | b |\n| --- | --- |\n" + "\n".join(f"| {n} | value {n} |" for n in range(60))
    text = f"# Guide\n\n{KEYS}\n\n## Animals\n\n{ANIMALS} Run this:\n\n{code}\n\n{table}\n\n## Keys\n\n{KEYS}"
    plan = SemanticPlan(text, title="Guide")
    chunks = plan.chunks(list(await embedder.embed_documents(plan.windows)), 50)
    check_chunks(text, chunks, 1400)
    assert sum(code in chunk.text for chunk in chunks) == 1
    assert sum(table in chunk.text for chunk in chunks) == 1
    for chunk in chunks:
        assert chunk.text.count("## ") == chunk.text.startswith("## ")
        assert not chunk.text.endswith(("## Animals", "## Keys", "Run this:"))
        assert chunk.heading_path == (
            ("Animals",)
            if text.index("## A") <= chunk.start < text.index("## K")
            else ("Keys",)
            if chunk.start >= text.index("## K")
            else ()
        )


async def test_the_setting_cuts_by_meaning_and_switching_cuts_anew(
    settings: Settings, database: Database, embedder: LocalEmbedder, connection: AsyncConnection[Any]
) -> None:
    model = Counting(embedder)
    document = SourceDocument(source="test:mixed", title="Mixed", text=f"{KEYS} {ANIMALS}", language="en")
    semantic_section = settings.ingest.model_copy(update={"chunking": "semantic"})
    by_meaning = Ingester(database, model, semantic_section)
    by_heading = Ingester(database, model, settings.ingest)
    assert (await by_heading.ingest([document])).chunks_written == 1
    assert (await by_meaning.ingest([document])).changed == ["Mixed"]
    assert await rows(connection, "SELECT raw_content FROM chunks ORDER BY ordinal") == [(KEYS,), (ANIMALS,)]
    assert (await rows(connection, "SELECT recipe FROM documents"))[0][0].endswith("/semantic/95/1")
    await assert_index_is_exact(connection)
    model.taken()
    assert (await by_meaning.ingest([document])).unchanged == ["Mixed"]
    assert model.taken() == []
    assert (await by_heading.ingest([document])).changed == ["Mixed"]
