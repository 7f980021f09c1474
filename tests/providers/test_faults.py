"""OPS-3, ING-6, RNK-1: every fault at every provider, with the real SDK on our side and real HTTP in between."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

import pytest
from pydantic import BaseModel

from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.providers.anthropic import Claude
from harry_mcp.providers.model_reranker import ModelReranker
from harry_mcp.providers.voyage import VoyageEmbedder
from harry_mcp.providers.voyage_context import VoyageContextEmbedder
from harry_mcp.providers.voyage_rerank import VoyageReranker
from harry_mcp.settings import ClaudeSection, VoyageSection
from tests.providers.scripted import ScriptedAnthropic, ScriptedVoyage, shaped
from tests.providers.vendor import Answer, Answering, Asked, Vendor, always, vendor

pytestmark = [pytest.mark.promise("OPS-3"), pytest.mark.promise("ING-6"), pytest.mark.promise("RNK-1")]

KEY = "sk-ant-hush-hush-hush"
RULES: dict[str, Any] = {"retries": 1, "timeout": 5.0, "patience": 20.0, "failures": 3, "pause": 60.0}


class Verdict(BaseModel):
    """Yes or no."""

    yes: bool


class Provider:
    """One job of one vendor, as a call that needs nothing but a time. Close it."""

    def __init__(self, job: str, server: Vendor, rules: dict[str, Any]) -> None:
        claude = Claude(KEY, ClaudeSection(base_url=server.url, **rules))
        voyage = VoyageSection(base_url=server.url, dimension=64, **rules)
        embedder = VoyageEmbedder(KEY, voyage, query_cache=0)
        contextual = VoyageContextEmbedder(KEY, voyage.model_copy(update={"model": "voyage-context-3"}), query_cache=0)
        reranker = VoyageReranker(KEY, voyage)
        self._parts = (claude, embedder, contextual, reranker)
        jobs: dict[str, Callable[[float | None], Awaitable[Any]]] = {
            "complete": lambda t: claude.complete("q", system="s", most_tokens=20, timeout=t),
            "answer": lambda t: claude.answer("q", system="s", shape=Verdict, most_tokens=20, timeout=t),
            "rerank": lambda t: ModelReranker(claude).score("q", ["a", "b"], timeout=t),
            "voyage": lambda t: embedder.embed_queries(["a", "b"], timeout=t),
            "voyage-context": lambda t: contextual.embed_queries(["a", "b"], timeout=t),
            "voyage-rerank": lambda t: reranker.score("q", ["a", "b"], timeout=t),
        }
        self.call = jobs[job]

    async def load(self) -> None:
        """Import the SDKs, so that no test takes that time for the vendor's."""
        for part in self._parts:
            await part.load()

    async def close(self) -> None:
        for part in self._parts:
            await part.close()


JOBS = ("complete", "answer", "rerank", "voyage", "voyage-context", "voyage-rerank")


@dataclass(frozen=True)
class Scene:
    """A vendor that answers as the test wants, and a job that asks it."""

    server: Vendor
    provider: Provider

    async def call(self, timeout: float | None = None) -> Any:
        return await self.provider.call(timeout)


Staged = Callable[..., Awaitable[Scene]]


@pytest.fixture(params=JOBS)
async def staged(request: pytest.FixtureRequest) -> Any:
    async with AsyncExitStack() as stack:

        async def stage(answering: Answering, *, gone: bool = False, **rules: Any) -> Scene:
            running = vendor(answering)
            server = await running.__aenter__()
            if gone:
                await running.__aexit__(None, None, None)
            else:
                stack.push_async_exit(running)
            provider = Provider(request.param, server, RULES | rules)
            await provider.load()
            stack.push_async_callback(provider.close)
            return Scene(server, provider)

        yield stage


def good(asked: Asked, number: int) -> Answer:
    """What either vendor answers on a good day."""
    if asked.path.startswith("/v1/messages"):
        return ScriptedAnthropic(Verdict=shaped({"yes": True}))(asked, number)
    return ScriptedVoyage()(asked, number)


def after(first: Answer) -> Answering:
    return lambda asked, number: good(asked, number) if number else first


def refusal(status: int, words: str = "Not now.", **headers: str) -> Answer:
    """A refusal that both vendors could have sent."""
    return Answer(
        {"detail": words, "type": "error", "error": {"type": "x", "message": words}},
        status=status,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


async def test_a_good_answer(staged: Staged) -> None:
    scene = await staged(good)
    assert await scene.call() is not None
    (asked,) = scene.server.asked
    assert KEY in str(asked.headers)


async def test_a_429_with_seconds_is_waited_for(staged: Staged) -> None:
    scene = await staged(after(refusal(429, retry_after="0.4")))
    started = time.monotonic()
    await scene.call()
    assert time.monotonic() - started >= 0.4
    assert len(scene.server.asked) == 2


async def test_a_429_with_a_date_is_waited_for(staged: Staged) -> None:
    date = 0
    asked_again = 0.0

    def answering(asked: Asked, number: int) -> Answer:
        nonlocal date, asked_again
        if number:
            asked_again = time.time()
            return good(asked, number)
        date = math.ceil(time.time() + 0.2)  # a date has whole seconds
        return refusal(429, retry_after=formatdate(date, usegmt=True))

    scene = await staged(answering)
    await scene.call()
    assert asked_again >= date


async def test_a_wait_longer_than_the_time_is_not_begun(staged: Staged) -> None:
    scene = await staged(always(refusal(429, "Busy.", retry_after="30")))
    started = time.monotonic()
    with pytest.raises(ProviderError, match=r"status 429: Busy\. It asks to wait 30 s, and there are") as caught:
        await scene.call(5)
    assert not isinstance(caught.value, ProviderTimeout)
    assert time.monotonic() - started < 4
    assert len(scene.server.asked) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
async def test_what_may_pass_is_tried_again_and_then_told(staged: Staged, status: int) -> None:
    scene = await staged(always(refusal(status, retry_after="0.01")))
    with pytest.raises(ProviderError, match=f"failed with status {status}: Not now"):
        await scene.call()
    assert len(scene.server.asked) == 2
    scene = await staged(after(refusal(status, retry_after="0.01")))
    await scene.call()
    assert len(scene.server.asked) == 2


async def test_a_hang_is_cancelled_when_the_time_is_over(staged: Staged) -> None:
    scene = await staged(always(Answer(hangs=True)), retries=5)
    started = time.monotonic()
    with pytest.raises(ProviderTimeout, match=r"did not answer in time \(0.5 s\)"):
        await scene.call(0.5)
    assert time.monotonic() - started < 4
    await asyncio.wait_for(scene.server.left.wait(), 5)  # the connection is closed, not left to itself
    assert len(scene.server.asked) == 1


async def test_a_hang_costs_one_attempt_where_there_is_more_time(staged: Staged) -> None:
    scene = await staged(after(Answer(hangs=True)), timeout=0.4)
    await scene.call()
    assert len(scene.server.asked) == 2


async def test_an_endless_answer_ends_with_the_time(staged: Staged) -> None:
    scene = await staged(always(Answer(" " * 64, endless=True)))
    with pytest.raises(ProviderTimeout):
        await scene.call(0.5)


@pytest.mark.parametrize("fault", [Answer({"a": "b" * 5000}, half=True), Answer(closes=True)], ids=["half", "closed"])
async def test_a_connection_that_breaks_is_tried_again_and_then_told(
    staged: Staged, fault: Answer, capfd: pytest.CaptureFixture[str]
) -> None:
    scene = await staged(always(fault), retries=0)
    with pytest.raises(ProviderError, match=r"cannot be reached at http://127\.0\.0\.1:\d+: "):
        await scene.call()
    scene = await staged(after(fault))
    await scene.call()
    assert len(scene.server.asked) == 2
    assert capfd.readouterr() == ("", "")


async def test_nobody_there(staged: Staged) -> None:
    scene = await staged(good, gone=True)
    with pytest.raises(ProviderError, match="cannot be reached"):
        await scene.call()


HUGE = "x" * 3_000_000
ONE = {"total_tokens": 1}
ODD: dict[str, Any] = {
    "empty": "",
    "null": "null",
    "five": "5",
    "text": '"text"',
    "list": "[]",
    "dict": "{}",
    "broken": "{broken",
    "html": "<html>It works!</html>",
    "binary": "\x00\x01",
    "nulls": {"data": None, "content": None, "usage": None},
    "dicts": {"data": {}, "content": {}, "usage": []},
    "none": {"data": [], "content": [], "usage": ONE},
    "absent": {"data": [None, None], "content": [None], "usage": ONE},
    "fives": {"data": [5, 5], "content": [5], "usage": ONE},
    "garbage": {"data": [{"embedding": "!!", "index": 0}] * 2, "content": [{"type": "text"}], "usage": ONE},
    "nan": {"data": [{"embedding": [math.nan] * 64, "index": 0}] * 2, "usage": ONE},
    "infinite": {"data": [{"embedding": [math.inf] * 64, "index": 0}] * 2, "usage": ONE},
    "large": {"data": [{"embedding": [1e300] * 64, "index": 0}] * 2, "usage": ONE},
    "zeros": {"data": [{"embedding": [0.0] * 64, "index": 0}] * 2, "usage": ONE},
    "short": {"data": [{"embedding": [1.0] * 63, "index": 0}] * 2, "usage": ONE},
    "few": {"data": [{"embedding": [1.0] * 64, "index": 0}], "usage": ONE},
    "many": {"data": [{"embedding": [1.0] * 64, "index": 0}] * 3, "usage": ONE},
    "huge": {"data": [{"embedding": HUGE, "index": 0}], "content": [{"type": "text", "text": HUGE}], "usage": {}},
    "tool": {"type": "message", "content": [{"type": "tool_use", "id": "t", "name": "x", "input": {}}], "usage": {}},
    "detail": {"object": "list", "data": [], "detail": HUGE},
    "huge-text": HUGE,
}


async def test_what_was_not_asked_for_is_an_error_of_ours(staged: Staged) -> None:
    scene = await staged(good, retries=0, failures=1000)
    for name, body in ODD.items():
        for sent in (body, {"content": body, "data": body}) if isinstance(body, str) else (body,):
            scene.server.answering = always(Answer(sent))
            outcome = (await asyncio.gather(scene.call(10), return_exceptions=True))[0]
            assert isinstance(outcome, ProviderError), (name, outcome)
            assert not isinstance(outcome, ProviderTimeout), name
            assert len(str(outcome)) < 500, name


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_refused_key_or_model_is_asked_once_and_then_not_for_a_while(staged: Staged, status: int) -> None:
    scene = await staged(always(refusal(status, "Invalid.")))
    with pytest.raises(ProviderNotConfigured, match=r"Invalid.*Check") as first:
        await scene.call()
    with pytest.raises(ProviderNotConfigured, match="left alone for another 300 s") as second:
        await scene.call()
    assert str(second.value).startswith(str(first.value))
    assert len(scene.server.asked) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_request_at_fault_is_told_and_never_opens_the_breaker(staged: Staged, status: int) -> None:
    scene = await staged(always(refusal(status, "Too long.")))
    for _ in range(5):
        with pytest.raises(ProviderError, match=f"status {status}: Too long"):
            await scene.call()
    assert len(scene.server.asked) == 5


@pytest.mark.parametrize("fault", [refusal(500), Answer("{}"), Answer(closes=True)], ids=["500", "odd", "closed"])
async def test_after_some_failures_the_service_is_left_alone(staged: Staged, fault: Answer) -> None:
    scene = await staged(always(fault), retries=0)
    for _ in range(3):
        with pytest.raises(ProviderError):
            await scene.call()
    scene.server.answering = good
    started = time.monotonic()
    for _ in range(20):
        with pytest.raises(ProviderError, match=r"It is left alone for another \d+ s"):
            await scene.call()
    assert time.monotonic() - started < 2
    assert len(scene.server.asked) == 3


async def test_a_service_that_is_back_is_found_by_one_call_and_then_by_all(staged: Staged) -> None:
    scene = await staged(always(refusal(500)), retries=0, pause=0.3)
    for _ in range(3):
        with pytest.raises(ProviderError):
            await scene.call()
    left = asyncio.Event()
    asyncio.get_running_loop().call_later(0.35, left.set)
    await left.wait()
    scene.server.answering = good
    outcomes = await asyncio.gather(*(scene.provider.call(None) for _ in range(6)), return_exceptions=True)
    assert sum(isinstance(outcome, ProviderError) for outcome in outcomes) == 5
    assert len(scene.server.asked) == 4
    await asyncio.gather(*(scene.call() for _ in range(4)))


async def test_a_search_that_goes_away_takes_its_call_along(staged: Staged) -> None:
    scene = await staged(always(Answer(hangs=True)))
    task = asyncio.ensure_future(scene.call())
    await scene.server.first.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(scene.server.left.wait(), 5)


async def test_connections_are_kept_between_calls(staged: Staged) -> None:
    scene = await staged(good)
    for _ in range(4):
        await scene.call()
    assert len(scene.server.asked) == 4
    assert scene.server.opened == 1
