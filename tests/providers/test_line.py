"""OPS-3: attempts within a time, Retry-After, and no key in what is said. The services here are plain functions."""

from __future__ import annotations

import asyncio
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given, strategies

from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.providers.line import Failed, Line
from harry_mcp.providers.wire import may_pass, redacted, seconds_to_wait, short
from harry_mcp.settings import ClaudeSection

pytestmark = pytest.mark.promise("OPS-3")

KEY = "sk-ant-hush-hush-hush"


def line(connect: Callable[[], str] = lambda: "client", **changes: float) -> Line[str]:
    rules = ClaudeSection.model_validate({"retries": 2, "patience": 5.0, "failures": 3, "pause": 60.0} | changes)
    return Line(connect, rules, name="model-1", key=KEY)


def failing(times: int, failed: Callable[[], Failed]) -> tuple[Callable[[str], Awaitable[str]], list[float]]:
    """An attempt that fails so many times before it answers, and when it was tried."""
    tried: list[float] = []

    async def attempt(client: str) -> str:
        tried.append(time.monotonic())
        if len(tried) <= times:
            raise failed()
        return f"answer of {client}"

    return attempt, tried


def busy(retry_after: float | None = 0.0) -> Failed:
    return Failed(ProviderError("It is busy."), passing=True, retry_after=retry_after)


async def test_what_may_pass_is_tried_again_and_no_more_often_than_the_rules_say() -> None:
    attempt, tried = failing(2, busy)
    assert await line().call(attempt) == "answer of client"
    assert len(tried) == 3
    attempt, tried = failing(9, busy)
    with pytest.raises(ProviderError, match="It is busy"):
        await line().call(attempt)
    assert len(tried) == 3
    attempt, tried = failing(1, lambda: Failed(ProviderError("No.")))
    with pytest.raises(ProviderError, match="No"):
        await line().call(attempt)
    assert len(tried) == 1


async def test_the_pause_is_what_the_service_asks_for_else_it_grows() -> None:
    attempt, tried = failing(1, lambda: busy(0.3))
    await line().call(attempt)
    assert tried[1] - tried[0] >= 0.3
    attempt, tried = failing(2, lambda: busy(None))
    await line().call(attempt)
    assert tried[1] - tried[0] >= 0.375
    assert tried[2] - tried[1] >= 0.75


@pytest.mark.parametrize("retry_after", [86400.0, 2.1])
async def test_a_wait_beyond_the_time_that_is_left_gives_up_at_once_and_says_so(retry_after: float) -> None:
    attempt, tried = failing(9, lambda: busy(retry_after))
    started = time.monotonic()
    with pytest.raises(
        ProviderError, match=r"It is busy\. It asks to wait \d+ s, and there are [012]\.\d s left"
    ) as caught:
        await line().call(attempt, timeout=2)
    assert time.monotonic() - started < 1.9
    assert not isinstance(caught.value, ProviderTimeout)
    assert len(tried) == 1


async def test_no_time_for_another_attempt_gives_up_with_what_the_last_one_said() -> None:
    attempt, tried = failing(9, lambda: busy(None))
    with pytest.raises(ProviderError, match=r"^It is busy\.$"):
        await line().call(attempt, timeout=0.2)
    assert len(tried) == 1


async def test_the_time_holds_for_all_attempts_together_and_cancels_the_one_that_runs() -> None:
    cancelled = asyncio.Event()
    tried = 0

    async def attempt(_: str) -> str:
        nonlocal tried
        tried += 1
        if tried == 1:
            raise busy(0.1)
        try:
            return await asyncio.Future[str]()
        finally:
            cancelled.set()

    started = time.monotonic()
    with pytest.raises(ProviderTimeout, match=r"model-1 did not answer in time \(0.3 s\)"):
        await line().call(attempt, timeout=0.3)
    assert 0.3 <= time.monotonic() - started < 4
    assert cancelled.is_set()
    assert tried == 2


async def test_late_calls_open_the_breaker_and_calls_that_were_dropped_do_not() -> None:
    async def never(_: str) -> str:
        return await asyncio.Future[str]()

    async def fine(_: str) -> str:
        return "fine"

    mine = line()
    for _ in range(3):
        task = asyncio.create_task(mine.call(never))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await mine.call(fine) == "fine"
    for _ in range(3):
        with pytest.raises(ProviderTimeout):
            await mine.call(never, timeout=0.01)
    with pytest.raises(ProviderError, match="left alone for another 60 s"):
        await mine.call(fine)


async def test_a_request_at_fault_does_not_speak_against_the_service() -> None:
    mine = line()
    for _ in range(5):
        with pytest.raises(ProviderError, match="Too long"):
            await mine.call(failing(1, lambda: Failed(ProviderError("Too long."), blameless=True))[0])
    assert await mine.call(failing(0, busy)[0]) == "answer of client"


async def test_a_refusal_is_the_last_word_for_a_while() -> None:
    mine = line(refused_pause=300.0)
    attempt, tried = failing(9, lambda: Failed(ProviderNotConfigured("The key is refused.")))
    for _ in range(3):
        with pytest.raises(ProviderNotConfigured, match="The key is refused"):
            await mine.call(attempt)
    assert len(tried) == 1


async def test_the_client_is_made_once_off_the_loop_and_its_slowness_is_not_the_services() -> None:
    made: list[int] = []
    release = threading.Event()

    def connect() -> str:
        made.append(threading.get_ident())
        release.wait(10)
        return "client"

    mine = line(connect)
    with pytest.raises(ProviderTimeout):
        await mine.call(failing(0, busy)[0], timeout=0.05)
    release.set()
    answers = await asyncio.gather(*(mine.call(failing(0, busy)[0]) for _ in range(5)))
    assert answers == ["answer of client"] * 5
    assert len(made) == 1
    assert threading.get_ident() not in made


async def test_a_client_that_cannot_be_made_is_an_error_each_time_and_opens_nothing() -> None:
    def connect() -> str:
        raise ProviderNotConfigured("There is no key.")

    mine = line(connect)
    for _ in range(5):
        with pytest.raises(ProviderNotConfigured, match=r"^There is no key\.$"):
            await mine.call(failing(0, busy)[0])


async def test_neither_the_message_nor_the_traceback_holds_a_key() -> None:
    async def attempt(_: str) -> str:
        try:
            raise RuntimeError(f"bad key {KEY}")
        except RuntimeError as error:
            raise Failed(ProviderError(f"No such key: {KEY}; try sk-ant-other-one.")) from error

    with pytest.raises(ProviderError) as caught:
        await line().call(attempt)
    assert str(caught.value) == "No such key: [key]; try [key]."
    assert KEY not in "".join(traceback.format_exception(caught.value))

    async def harmless(_: str) -> str:
        raise Failed(ProviderError("Down.")) from OSError("no route")

    with pytest.raises(ProviderError) as caught:
        await line().call(harmless)
    assert isinstance(caught.value.__cause__, OSError)


NOW = datetime(2026, 10, 21, 7, 28, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("20", 20.0),
        ("0.25", 0.25),
        (" 7 ", 7.0),
        ("-3", 0.0),
        (format_datetime(NOW + timedelta(seconds=30), usegmt=True), 30.0),
        ("Wednesday, 21-Oct-26 07:28:30 GMT", 30.0),
        ("Wed, 21 Oct 2026 09:28:30 +0200", 30.0),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), 0.0),
        ("soon", None),
        ("", None),
        ("inf", None),
        ("nan", None),
        ("Wed, 99 Foo 2026", None),
        ("Wed, 21 Oct 99999 07:28:30 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert seconds_to_wait({"retry-after": value}, NOW.timestamp) == seconds


@given(strategies.text())
def test_any_retry_after_is_a_number_of_seconds_or_none(value: str) -> None:
    seconds = seconds_to_wait({"retry-after": value})
    assert seconds is None or 0 <= seconds < float("inf")


def test_no_retry_after_is_none_and_statuses_are_told_apart() -> None:
    assert seconds_to_wait({}) is None
    assert [status for status in (400, 401, 404, 408, 409, 413, 429, 500, 502, 503, 520, 529) if may_pass(status)] == [
        408,
        409,
        429,
        500,
        502,
        503,
        520,
        529,
    ]


def test_what_is_said_is_short_and_without_keys() -> None:
    assert short("  a\n b.  ") == "a b"
    assert short(ValueError()) == "ValueError"
    assert len(short("x" * 999)) == 200
    assert redacted("invalid key sk-ant-hush-...", KEY) == "invalid key [key]"
    assert redacted("nothing", "") == "nothing"
    assert redacted("pa-abcdefghijk and " + KEY, KEY) == "[key] and [key]"
