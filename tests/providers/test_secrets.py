"""OPS-3, RUN-5: no log record, no message, no traceback and no output holds a key, whatever a service sends back."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from harry_mcp.errors import ProviderError, ProviderNotConfigured
from harry_mcp.providers.anthropic import Claude
from harry_mcp.providers.model_reranker import ModelReranker
from harry_mcp.providers.voyage import VoyageEmbedder
from harry_mcp.providers.voyage_rerank import VoyageReranker
from harry_mcp.settings import ClaudeSection, VoyageSection
from tests.providers.vendor import Answer, always, vendor

pytestmark = [pytest.mark.promise("OPS-3"), pytest.mark.promise("RUN-5")]

# Unlike any vendor's keys, so that nothing but the key itself tells that it is one.
KEY = "Hush.0123456789/abc"
WORDS = f"The key {KEY} in 'Bearer {KEY}' is none."


def answers() -> list[Answer]:
    body = {"detail": WORDS, "type": "error", "error": {"type": "x", "message": WORDS}}
    refused = [Answer(body, status=status) for status in (400, 401, 403, 404, 429, 500, 529)]
    cut = {"detail": "x" * 180 + WORDS, "error": {"message": "x" * 180 + WORDS}}
    refused.append(Answer(cut, status=500))
    plain = [Answer(WORDS, status=status, headers={"content-type": "text/plain"}) for status in (200, 401, 500)]
    odd = Answer({"data": WORDS, "content": WORDS, "error": WORDS})
    inside = Answer({"data": [{WORDS: WORDS}], "content": [{"type": "text", "text": WORDS}], "usage": WORDS})
    header = Answer(body, status=429, headers={"retry-after": KEY, "request-id": KEY, "x-should-retry": KEY})
    return [*refused, *plain, odd, inside, header, Answer(body, half=True), Answer(closes=True), Answer(hangs=True)]


Call = Callable[[], Awaitable[Any]]


async def told(call: Call) -> str:
    """All that may be shown of a failure: the message, and what a log prints of the error and its causes."""
    with pytest.raises(ProviderError) as caught:
        await call()
    logging.getLogger("harry_mcp").error("It failed.", exc_info=caught.value)
    return f"{caught.value!r} {''.join(traceback.format_exception(caught.value))}"


@pytest.mark.parametrize("number", range(len(answers())))
async def test_a_service_that_repeats_the_key_is_not_repeated(
    number: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    rules: dict[str, Any] = {"retries": 0, "timeout": 0.5, "failures": 1000, "refused_pause": 0.001}
    async with vendor(always(answers()[number])) as server:
        claude = Claude(KEY, ClaudeSection(base_url=server.url, **rules))
        embedder = VoyageEmbedder(KEY, VoyageSection(base_url=server.url, **rules))
        reranker = VoyageReranker(KEY, VoyageSection(base_url=server.url, **rules))
        for part in (claude, embedder, reranker):
            await part.load()
        shown = [
            await told(lambda: ModelReranker(claude).score("q", ["p"])),
            await told(lambda: embedder.embed_queries(["q"])),
            await told(lambda: reranker.score("q", ["p"])),
        ]
        for part in (claude, embedder, reranker):
            await part.close()
        assert len(server.asked) == 3
    said = logging.Formatter("%(message)s")
    logged = "\n".join(said.format(record) for record in caplog.records)
    output = capfd.readouterr()
    for text in (*shown, logged, output.out, output.err):
        assert KEY[:10] not in text
    assert "It failed." in logged
    assert "Post details" not in logged  # nor the texts, which are nobody's business


async def test_no_service_is_asked_with_a_key_that_http_cannot_carry() -> None:
    async with vendor(always(Answer({}))) as server:
        for key in (f"{KEY}\nx", f"{KEY}é", f"{KEY}\x00"):
            claude = Claude(key, ClaudeSection(base_url=server.url))
            reranker = VoyageReranker(key, VoyageSection(base_url=server.url))
            for call in (
                lambda claude=claude: claude.complete("q", system="s", most_tokens=5),
                lambda reranker=reranker: reranker.score("q", ["p"]),
            ):
                with pytest.raises(ProviderNotConfigured, match="API_KEY holds characters that no key has") as caught:
                    await call()
                assert KEY not in str(caught.value)
        assert server.asked == []


async def test_white_space_around_a_key_does_not_matter() -> None:
    async with vendor(always(Answer({}))) as server:
        claude = Claude(f" {KEY}\n", ClaudeSection(base_url=server.url, retries=0))
        with pytest.raises(ProviderError, match="without text"):
            await claude.complete("q", system="s", most_tokens=5)
        await claude.close()
    headers = server.asked[0].headers
    assert KEY in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer "))
