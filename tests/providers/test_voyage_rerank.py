"""RNK-1: Voyage's re-ranker through the real SDK, against a server that speaks its API."""

from __future__ import annotations

import math
from typing import Any

import pytest

from harry_mcp.errors import ProviderError, ProviderNotConfigured
from harry_mcp.ports import Reranker
from harry_mcp.providers.voyage_rerank import VoyageReranker
from harry_mcp.settings import VoyageSection
from tests.providers.scripted import ScriptedVoyage, reranked
from tests.providers.vendor import Answer, Vendor, always, error, vendor

pytestmark = pytest.mark.promise("RNK-1")

PASSAGES = ["Rotate the key.", "Invoices.", ""]


async def score(server: Vendor, passages: list[str] = PASSAGES) -> list[float]:
    made = VoyageReranker("pa-hush", VoyageSection(base_url=server.url, retries=0))
    reranker: Reranker = made
    try:
        return await reranker.score("rotate", passages, timeout=5)
    finally:
        await made.close()


async def test_scores_come_in_the_order_of_the_passages_though_the_service_answers_best_first() -> None:
    rated = {"Rotate the key.": 0.25, "Invoices.": 0.875, ".": 1.0}
    script = ScriptedVoyage(rerank=reranked(lambda _, passage: rated[passage]))
    async with vendor(script) as server:
        assert await score(server) == [0.25, 0.875, 1.0]
        assert await score(server, []) == []
    (asked,) = script.asked["rerank"]
    assert asked.headers["authorization"] == "Bearer pa-hush"
    assert (asked.body["query"], asked.body["documents"]) == ("rotate", ["Rotate the key.", "Invoices.", "."])
    assert asked.body["model"] == "rerank-2.5-lite"


def result(*pairs: tuple[Any, Any]) -> Answer:
    data = [{"index": index, "relevance_score": score} for index, score in pairs]
    return Answer({"data": data, "usage": {"total_tokens": 3}})


@pytest.mark.parametrize(
    "answer",
    [
        result((0, 0.1), (1, 0.2)),
        result((0, 0.1), (1, 0.2), (1, 0.3)),
        result((0, 0.1), (1, 0.2), (2, 0.3), (2, 0.3)),
        result((0, 0.1), (1, 0.2), (-1, 0.3)),
        result((0, 0.1), (1, 0.2), (3, 0.3)),
        result((0, 0.1), (1, 0.2), ("2", 0.3)),
        result((0, 0.1), (1, 0.2), (2, math.nan)),
        result((0, 0.1), (1, 0.2), (2, 1.5)),
        result((0, 0.1), (1, 0.2), (2, -0.5)),
        result((0, 0.1), (1, 0.2), (2, None)),
        result((0, 0.1), (1, 0.2), (2, "0.3")),
        result((0, 0.1), (1, 0.2), (2, True)),
        Answer({"data": [{}, {}, {}], "usage": {"total_tokens": 3}}),
        Answer({"data": "none", "usage": {"total_tokens": 3}}),
    ],
    ids="few twice many negative beyond word nan over under null text bool bare string".split(),  # noqa: SIM905
)
async def test_what_is_not_one_score_for_each_passage_is_an_error(answer: Answer) -> None:
    async with vendor(always(answer)) as server:
        with pytest.raises(ProviderError, match=r"rerank-2\.5-lite"):
            await score(server)


async def test_a_refused_key_says_what_to_do() -> None:
    async with vendor(always(Answer(error("x", "no"), status=401))) as server:
        with pytest.raises(ProviderNotConfigured, match=r"VOYAGE_API_KEY.*HARRY_RANK__RERANKER to local"):
            await score(server)
