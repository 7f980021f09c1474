"""VER-6, OPS-3: Tavily through the real SDK, against a server that speaks its API."""

from __future__ import annotations

import email.utils
import subprocess
import sys
import time
from typing import Any

import pytest

from harry_mcp.domain.web import WebPage
from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import WebSearch
from harry_mcp.providers.factory import build_web_search
from harry_mcp.providers.tavily import TavilySearch
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.settings import WebSection, load_settings
from tests.providers.vendor import Answer, Asked, Vendor, always, vendor

pytestmark = [pytest.mark.promise("VER-6"), pytest.mark.promise("OPS-3")]

KEY = "tvly-dev-hush-hush"


def result(url: str = "https://docs.example.com/a", **fields: Any) -> dict[str, Any]:
    """A result as the API gives it."""
    return {
        "url": url,
        "title": "A",
        "content": "A snippet.",
        "score": 0.9,
        "raw_content": "# A\n\nAll of it.",
    } | fields


def found(*results: Any, **fields: Any) -> dict[str, Any]:
    """An answer of the API."""
    return {"query": "q", "answer": None, "images": [], "results": [*results], "response_time": 1.1} | fields


def search(server: Vendor, usage: UsageMeter | None = None, **changes: Any) -> TavilySearch:
    given: dict[str, Any] = {"timeout": 5.0, "retries": 1} | changes
    return TavilySearch(KEY, WebSection(base_url=server.url, **given), usage)


async def ask(server: Vendor, within: float | None = None, **changes: Any) -> list[WebPage]:
    tavily = search(server, **changes)
    port: WebSearch = tavily
    try:
        return await port.search("How?", hosts=["example.com", "b.example"], results=10, timeout=within)
    finally:
        await tavily.close()


async def test_the_question_goes_out_with_the_hosts_and_pages_come_back() -> None:
    async with vendor(
        always(Answer(found(result(), result("https://b.example/", raw_content=None, score=1))))
    ) as server:
        pages = await ask(server)
    assert pages == [
        WebPage(
            url="https://docs.example.com/a", title="A", score=0.9, snippet="A snippet.", content="# A\n\nAll of it."
        ),
        WebPage(url="https://b.example/", title="A", score=1.0, snippet="A snippet.", content=""),
    ]
    (asked,) = server.asked
    assert asked.path == "/search"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["query"] == "How?"
    assert asked.body["include_domains"] == ["example.com", "b.example"]
    assert asked.body["include_raw_content"] == "markdown"
    assert asked.body["max_results"] == 10
    assert asked.body["search_depth"] == "basic"
    assert asked.body["include_answer"] is False


async def test_what_the_api_refuses_is_never_sent() -> None:
    async with vendor(always(Answer(found()))) as server:
        tavily = search(server, depth="advanced")
        assert await tavily.search("w" * 5000, hosts=["example.com"], results=99) == []
        await tavily.close()
    assert len(server.asked[0].body["query"]) == 400
    assert server.asked[0].body["max_results"] == 20
    assert server.asked[0].body["search_depth"] == "advanced"
    assert tavily.name == "tavily/advanced"


@pytest.mark.parametrize(
    ("fields", "dollars"),
    [({"usage": {"credits": 3}}, 0.024), ({}, 0.008), ({"usage": "none"}, 0.008), ({"usage": {"credits": -1}}, 0.008)],
)
async def test_each_answer_is_counted_with_what_it_cost(fields: dict[str, Any], dollars: float) -> None:
    usage = UsageMeter()
    async with vendor(always(Answer(found(**fields)))) as server:
        tavily = search(server, usage)
        await tavily.search("How?", hosts=["example.com"], results=5)
        await tavily.close()
    assert usage.models["tavily/basic"].calls == 1
    assert usage.dollars == pytest.approx(dollars)


@pytest.mark.parametrize(
    "fields",
    [
        {"score": None},
        {"score": "0.9"},
        {"score": True},
        {"score": 7},
        {"score": -0.1},
        {"title": None, "content": 7, "raw_content": ["x"], "score": {}},
    ],
)
async def test_fields_that_are_not_what_they_should_be_count_for_nothing(fields: dict[str, Any]) -> None:
    async with vendor(
        always(Answer(found(result(**fields), 7, {"title": "no address"}, result("https://b.example"))))
    ) as s:
        first, second = await ask(s)
    assert first.score == 0.0
    assert second.score == 0.9
    assert isinstance(first.title, str)
    assert isinstance(first.content, str)


async def test_retry_after_is_honoured_within_the_time_that_there_is() -> None:
    def answering(_: Asked, number: int) -> Answer:
        busy = Answer({"detail": {"error": "Slow down."}}, status=429, headers={"retry-after": "1"})
        return Answer(found(result())) if number else busy

    async with vendor(answering) as server:
        started = time.monotonic()
        assert len(await ask(server, within=10)) == 1
    assert time.monotonic() - started >= 1.0
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "wait", ["86400", email.utils.formatdate(time.time() + 7200, usegmt=True)], ids=["seconds", "moment"]
)
async def test_a_retry_after_beyond_the_time_is_not_waited_for(wait: str) -> None:
    later = Answer({"detail": {"error": "Tomorrow."}}, status=429, headers={"retry-after": wait})
    async with vendor(always(later)) as server:
        started = time.monotonic()
        with pytest.raises(ProviderError, match=r"status 429: Tomorrow.*asks to wait"):
            await ask(server, within=5)
    assert time.monotonic() - started < 4
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_what_may_pass_is_tried_again_and_no_more_than_the_settings_say(status: int) -> None:
    fast = {"retry-after": "0.01"}
    refusal = Answer({"detail": {"error": "Not now."}}, status=status, headers=fast)
    async with vendor(always(refusal)) as server:
        with pytest.raises(ProviderError, match=f"Tavily failed with status {status}: Not now"):
            await ask(server)
    assert len(server.asked) == 2


async def test_a_server_that_hangs_costs_the_time_that_there_is_and_no_more() -> None:
    async with vendor(always(Answer(hangs=True))) as server:
        tavily = search(server)
        await tavily.load()  # the SDK's import is not what is measured
        started = time.monotonic()
        with pytest.raises(ProviderTimeout, match="did not answer in time"):
            await tavily.search("How?", hosts=["example.com"], results=5, timeout=0.7)
        assert time.monotonic() - started < 2
        await tavily.close()
    async with vendor(always(Answer(hangs=True))) as server:
        with pytest.raises(ProviderTimeout, match="Tavily did not answer in time"):
            await ask(server, within=20, retries=1, timeout=0.2)
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Answer(found(result()), half=True), "cannot be reached"),
        (Answer("<html>It works!</html>", headers={"content-type": "text/html"}), "no list of pages"),
        (Answer("{not json"), "no list of pages"),
        (Answer("\ud7ff\x00"), "no list of pages"),
        (Answer("[" * 100_000), "no list of pages"),
        (Answer([]), "no list of pages"),
        (Answer({}), "no list of pages"),
        (Answer("null"), "no list of pages"),
        (Answer(found() | {"results": None}), "no list of pages"),
        (Answer(found() | {"results": {"url": "https://docs.example.com"}}), "no list of pages"),
        (Answer(found(1, "https://docs.example.com", None, {})), "no list of pages"),
        (Answer("", headers={"content-length": "900000000"}), "far more than pages"),
        (Answer("", status=204), "status 204"),
        (Answer("", status=302, headers={"location": "https://evil.example/"}), "status 302"),
        (Answer({"detail": {"error": "All domains are invalid."}}, status=400), "status 400: All domains are invalid"),
        (Answer({"detail": [{"msg": "?"}]}, status=422), "status 422: it says no more"),
        (Answer({"error": "Odd."}, status=418), "status 418: Odd"),
    ],
)
async def test_what_is_no_answer_is_an_error_and_never_an_empty_list(answer: Answer, sentence: str) -> None:
    async with vendor(always(answer)) as server:
        with pytest.raises(ProviderError, match=sentence) as caught:
            await ask(server, retries=0)
    assert KEY not in str(caught.value)
    assert not isinstance(caught.value, ProviderNotConfigured)


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, "TAVILY_API_KEY is refused .401.: Wrong .key.. Check the key"),
        (403, "TAVILY_API_KEY is refused .403."),
        (432, "plan of TAVILY_API_KEY is used up .432."),
        (433, "plan of TAVILY_API_KEY is used up .433."),
    ],
)
async def test_a_refused_key_or_plan_is_told_apart_and_the_service_left_alone(status: int, sentence: str) -> None:
    refusal = Answer({"detail": {"error": f"Wrong {KEY}."}}, status=status)
    async with vendor(always(refusal)) as server:
        tavily = search(server)
        for _ in range(2):
            with pytest.raises(ProviderNotConfigured, match=sentence) as caught:
                await tavily.search("How?", hosts=["example.com"], results=5)
            assert KEY not in str(caught.value)
        await tavily.close()
    assert len(server.asked) == 1


async def test_a_key_that_no_header_holds_is_told() -> None:
    with pytest.raises(ProviderNotConfigured, match="characters that no key has"):
        await TavilySearch("tvly-ключ", WebSection()).search("How?", hosts=["example.com"], results=5)


async def test_a_service_that_keeps_failing_is_left_alone() -> None:
    async with vendor(always(Answer("", status=503))) as server:
        tavily = search(server, retries=0, failures=3)
        for _ in range(3):
            with pytest.raises(ProviderError, match="503"):
                await tavily.search("How?", hosts=["example.com"], results=5)
        with pytest.raises(ProviderError, match="left alone"):
            await tavily.search("How?", hosts=["example.com"], results=5)
        await tavily.close()
    assert len(server.asked) == 3


async def test_an_answer_without_end_ends_with_the_time() -> None:
    async with vendor(always(Answer(" " * 64, endless=True))) as server:
        with pytest.raises(ProviderTimeout):
            await ask(server, within=1.5)


async def test_nobody_there_is_an_error_of_ours() -> None:
    async with vendor(always(Answer())) as server:
        pass
    with pytest.raises(ProviderError, match=r"Tavily cannot be reached at http://127.0.0.1"):
        await ask(server, retries=0)


def test_the_key_switches_it_on_and_its_sdk_is_imported_when_it_is_asked() -> None:
    assert build_web_search(load_settings({})) is None
    with_key = load_settings({"TAVILY_API_KEY": KEY})
    assert build_web_search(with_key) is not None
    assert KEY not in repr(with_key)
    code = "import sys, harry_mcp.app; print(*({'tavily', 'rank_bm25', 'requests', 'tiktoken'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
