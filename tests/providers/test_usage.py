"""OPS-4: what the models were asked and what it cost, in one place for all of them."""

from __future__ import annotations

import pytest

from harry_mcp.errors import ProviderError
from harry_mcp.ports import Completion
from harry_mcp.providers.factory import build_claude, build_embedder, build_language_model, build_reranker
from harry_mcp.providers.usage import ModelUsage, UsageMeter, dollars
from harry_mcp.providers.voyage import VoyageEmbedder
from harry_mcp.providers.voyage_rerank import VoyageReranker
from harry_mcp.settings import ClaudeSection, load_settings
from tests.providers.scripted import ScriptedAnthropic, ScriptedVoyage, shaped
from tests.providers.vendor import Answer, always, error, vendor

pytestmark = pytest.mark.promise("OPS-4")


def test_tokens_cost_what_the_settings_say() -> None:
    prices = ClaudeSection(price_input=1, price_cache_write=2, price_cache_read=0.5, price_output=4)
    tokens = Completion(
        text="", input_tokens=1_000_000, cache_write_tokens=500_000, cache_read_tokens=2_000_000, output_tokens=250_000
    )
    assert dollars(tokens, prices) == 1 + 1 + 1 + 1


async def test_every_provider_of_an_app_counts_on_one_meter() -> None:
    meter = UsageMeter()
    async with vendor(ScriptedAnthropic()) as anthropic, vendor(ScriptedVoyage()) as voyage:
        settings = load_settings(
            {
                "ANTHROPIC_API_KEY": "sk-ant-x",
                "VOYAGE_API_KEY": "pa-x",
                "HARRY_CLAUDE__BASE_URL": anthropic.url,
                "HARRY_VOYAGE__BASE_URL": voyage.url,
                "HARRY_RANK__RERANKER": "voyage",
            }
        )
        model = build_language_model(settings, meter)
        contexts = build_claude(settings, model, meter)
        embedder = build_embedder(settings, meter)
        voyage_rerank = build_reranker(settings, model, meter)
        assert model is not None
        assert contexts is not None
        assert isinstance(voyage_rerank, VoyageReranker)
        await contexts.complete("Which?", system="s", document="d", most_tokens=50)
        await model.complete("Which?", system="s", most_tokens=50)
        await embedder.embed_queries(["a"])
        await embedder.embed_queries(["a"])  # kept, so not asked for
        await embedder.embed_documents(["b", "c"])
        await voyage_rerank.score("q", ["p"])
        assert isinstance(embedder, VoyageEmbedder)
        for part in (model, embedder, voyage_rerank):
            await part.close()
    claude, embed, rerank = meter.models.values()
    assert claude == ModelUsage(
        model="claude-haiku-5-5",
        calls=2,
        input_tokens=24,
        cache_write_tokens=1800,
        output_tokens=14,
        dollars=claude.dollars,
    )
    assert claude.tokens == 1838
    assert claude.dollars == pytest.approx((24 * 0.1 + 1800 * 0.125 + 14 * 0.5) / 1e6)
    assert (embed.model, embed.calls, embed.tokens) == ("voyage-3.5", 2, 14)
    assert (rerank.model, rerank.calls, rerank.tokens) == ("rerank-2.5-lite", 1, 11)
    assert meter.dollars == pytest.approx(claude.dollars + 14 * 0.06 / 1e6 + 11 * 0.02 / 1e6)


async def test_an_answer_that_cannot_be_used_was_paid_for_and_one_that_did_not_come_was_not() -> None:
    meter = UsageMeter()
    settings = load_settings({"ANTHROPIC_API_KEY": "sk-ant-x", "HARRY_CLAUDE__RETRIES": "0"})
    for answer, calls in ((shaped({"p1": "no"}), 1), (Answer(error("x", "no"), status=500), 1), (Answer({}), 2)):
        async with vendor(always(answer)) as server:
            section = settings.claude.model_copy(update={"base_url": server.url})
            model = build_language_model(settings.model_copy(update={"claude": section}), meter)
            assert model
            reranker = build_reranker(settings, model)
            assert reranker
            with pytest.raises(ProviderError):
                await reranker.score("q", ["p"])
            await model.close()
        assert meter.models["claude-haiku-5-5"].calls == calls
    assert meter.models["claude-haiku-5-5"].output_tokens == 7
