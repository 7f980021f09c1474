"""ING-4, RUN-4: Claude through the real SDK, against a server that speaks the Messages API."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
import time
from typing import Any

import pytest
from pydantic import BaseModel, Field

from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Completion, LanguageModel
from harry_mcp.providers.anthropic import Claude
from harry_mcp.providers.factory import build_claude, build_language_model
from harry_mcp.settings import ClaudeSection, load_settings
from tests.providers.scripted import shaped
from tests.providers.vendor import Answer, Asked, Vendor, always, error, message, vendor

pytestmark = pytest.mark.promise("ING-4")

KEY = "sk-ant-hush"


async def ask(server: Vendor, **changes: Any) -> Completion:
    given: dict[str, Any] = {"timeout": 5.0, "retries": 2, "patience": 20.0} | changes
    settings = ClaudeSection(base_url=server.url, **given)
    claude = Claude(KEY, settings)
    model: LanguageModel = claude
    try:
        return await model.complete("Which?", system="Be brief.", document="The document.", most_tokens=50)
    finally:
        await claude.close()


async def test_the_document_is_a_cached_block_and_the_answer_comes_with_its_tokens() -> None:
    async with vendor(always(Answer(message("An answer.")))) as server:
        answer = await ask(server)
    assert answer == Completion(
        text="An answer.", input_tokens=12, cache_write_tokens=900, cache_read_tokens=0, output_tokens=7
    )
    (asked,) = server.asked
    assert asked.path.split("?")[0] == "/v1/messages"
    assert KEY in (asked.headers.get("x-api-key"), asked.headers.get("authorization", "").removeprefix("Bearer "))
    assert asked.headers["anthropic-version"]
    assert asked.body["model"] == "claude-haiku-5-5"
    assert asked.body["max_tokens"] == 50
    assert asked.body["system"] == "Be brief."
    assert "output_config" not in asked.body
    assert asked.body["thinking"] == {"type": "disabled"}
    assert asked.body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "The document.", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "Which?"},
            ],
        }
    ]


class Grade(BaseModel):
    """Whether the text is any good."""

    good: bool = Field(description="True when it is.")
    mark: int = Field(ge=1, le=6, description="From 1, the best.")


async def grade(server: Vendor, **changes: Any) -> Grade:
    given: dict[str, Any] = {"timeout": 5.0, "retries": 0, "patience": 20.0} | changes
    claude = Claude(KEY, ClaudeSection(base_url=server.url, **given))
    model: LanguageModel = claude
    try:
        return await model.answer("Good?", system="Be strict.", shape=Grade, most_tokens=50)
    finally:
        await claude.close()


async def test_an_answer_has_the_shape_that_the_model_was_shown() -> None:
    async with vendor(always(shaped({"good": True, "mark": 2}))) as server:
        assert await grade(server) == Grade(good=True, mark=2)
    (asked,) = server.asked
    output = asked.body["output_config"]["format"]
    assert output["type"] == "json_schema"
    assert output["schema"]["description"] == "Whether the text is any good."
    assert output["schema"]["required"] == ["good", "mark"]
    assert output["schema"]["properties"]["good"]["description"] == "True when it is."
    assert output["schema"]["additionalProperties"] is False
    # What is the same for every question is cached, the question is not
    assert asked.body["system"] == [{"type": "text", "text": "Be strict.", "cache_control": {"type": "ephemeral"}}]
    assert asked.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Good?"}]}]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Answer(message("I think it is good.")), "is no Grade: the whole: Invalid JSON"),
        (Answer(message('```json\n{"good": true, "mark": 2}\n```')), "is no Grade: the whole: Invalid JSON"),
        (shaped({"good": True}), "is no Grade: mark: Field required"),
        (shaped({"good": True, "mark": 7}), "is no Grade: mark: Input should be less than or equal to 6"),
        (shaped({"good": True, "mark": math.nan}), "is no Grade: mark: "),
        (shaped({"good": "maybe", "mark": 2}), "is no Grade: good: "),
        (shaped([True, 2]), "is no Grade: the whole: "),
        (shaped(None), "is no Grade: the whole: "),
        (Answer(message('{"good": tr', stop_reason="max_tokens")), "did not finish its Grade within the tokens"),
        (Answer(message("no", stop_reason="refusal")), "refused to answer"),
        (Answer(message("x" * 50_000)), "far more than the 50 tokens"),
        (Answer(error("invalid_request_error", "schema is too complex"), status=400), "status 400: schema is too"),
    ],
    ids=["prose", "fenced", "missing", "range", "nan", "word", "list", "null", "cut", "refusal", "huge", "bad request"],
)
async def test_an_answer_of_another_shape_is_an_error_that_does_not_repeat_it(answer: Answer, sentence: str) -> None:
    async with vendor(always(answer)) as server:
        with pytest.raises(ProviderError, match=sentence) as caught:
            await grade(server, retries=2)
    assert len(server.asked) == 1
    assert "I think" not in str(caught.value)
    assert "maybe" not in str(caught.value)


async def test_the_service_may_say_whether_another_attempt_makes_sense() -> None:
    no = Answer(error("api_error", "Never."), status=500, headers={"x-should-retry": "false"})
    async with vendor(always(no)) as server:
        with pytest.raises(ProviderError, match="Never"):
            await ask(server)
    assert len(server.asked) == 1
    yes = {"x-should-retry": "true", "retry-after": "0.01"}
    async with vendor(always(Answer(error("x", "Once more."), status=400, headers=yes))) as server:
        with pytest.raises(ProviderError, match="Once more"):
            await ask(server)
    assert len(server.asked) == 3


async def test_text_that_utf_8_has_no_bytes_for_is_sent_without_it() -> None:
    async with vendor(always(Answer(message("Fine.")))) as server:
        claude = Claude(KEY, ClaudeSection(base_url=server.url))
        await claude.complete("half a pair: \ud83d", system="x", most_tokens=9)
        await claude.close()
    assert server.asked[0].body["messages"][0]["content"][0]["text"] == "half a pair: ?"


async def test_retry_after_is_honoured() -> None:
    def answering(_: Asked, number: int) -> Answer:
        busy = Answer(error("rate_limit_error", "Slow down."), status=429, headers={"retry-after": "1"})
        return busy if number == 0 else Answer(message("At last."))

    async with vendor(answering) as server:
        started = time.monotonic()
        assert (await ask(server)).text == "At last."
    assert time.monotonic() - started >= 1.0
    assert len(server.asked) == 2


@pytest.mark.parametrize(("status", "kind"), [(500, "api_error"), (529, "overloaded_error"), (429, "rate_limit_error")])
async def test_what_may_pass_is_tried_again_and_no_more_than_the_settings_say(status: int, kind: str) -> None:
    fast = {"retry-after": "0.01"}
    async with vendor(always(Answer(error(kind, "Not now."), status=status, headers=fast))) as server:
        with pytest.raises(ProviderError, match=f"claude-haiku-5-5 failed with status {status}: Not now") as caught:
            await ask(server)
    assert len(server.asked) == 3
    assert not isinstance(caught.value, ProviderNotConfigured)

    def once(_: Asked, number: int) -> Answer:
        return Answer(message("Fine."), status=200) if number else Answer(error(kind, "x"), status=status, headers=fast)

    async with vendor(once) as server:
        assert (await ask(server)).text == "Fine."


async def test_a_retry_after_beyond_all_patience_is_not_waited_for() -> None:
    later = Answer(error("rate_limit_error", "Tomorrow."), status=429, headers={"retry-after": "86400"})
    async with vendor(always(later)) as server:
        started = time.monotonic()
        with pytest.raises(ProviderError, match=r"429: Tomorrow\. It asks to wait 86400 s"):
            await ask(server, patience=5)
    assert time.monotonic() - started < 4
    assert len(server.asked) == 1


async def test_a_server_that_hangs_costs_the_timeout_of_each_attempt() -> None:
    async with vendor(always(Answer(hangs=True))) as server:
        with pytest.raises(ProviderTimeout):
            await ask(server, timeout=0.2, retries=1)
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Answer(message("Half of this"), half=True), "cannot be reached"),
        (Answer("<html>It works!</html>", headers={"content-type": "text/html"}), "without text|is no message"),
        (Answer("{not json"), "without text|is no message"),
        (Answer([]), "without text|is no message"),
        (Answer({"content": "text"}), "without text"),
        (Answer({"content": [{"type": "text"}], "usage": "none"}), "without text"),
        (Answer(message("")), "without text"),
        (Answer(message(" \n ")), "without text"),
        (Answer(message("no", stop_reason="refusal")), "refused to answer"),
        (Answer(error("invalid_request_error", "prompt is too long"), status=400), "status 400: prompt is too long"),
    ],
    ids=["half", "html", "broken", "list", "string", "no text", "empty", "blank", "refusal", "bad request"],
)
async def test_what_is_no_answer_is_an_error_of_ours(answer: Answer, sentence: str) -> None:
    async with vendor(always(answer)) as server:
        with pytest.raises(ProviderError, match=sentence) as caught:
            await ask(server, retries=0)
    assert KEY not in str(caught.value)
    assert "The document" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(401, "ANTHROPIC_API_KEY is refused .401.: invalid x-api-key"), (404, "no model claude-haiku-5-5.*HARRY_CLAUDE")],
)
async def test_a_wrong_key_or_model_is_told_apart_and_not_tried_again(status: int, sentence: str) -> None:
    async with vendor(always(Answer(error("x", "invalid x-api-key"), status=status))) as server:
        with pytest.raises(ProviderNotConfigured, match=sentence):
            await ask(server)
    assert len(server.asked) == 1


async def test_nobody_there_is_an_error_of_ours() -> None:
    async with vendor(always(Answer())) as server:
        pass
    await asyncio.sleep(0)
    with pytest.raises(ProviderError, match=r"cannot be reached at http://127.0.0.1"):
        await ask(server, retries=0)


@pytest.mark.promise("RUN-4")
def test_the_key_switches_claude_on_and_demanding_it_without_one_is_refused() -> None:
    assert build_claude(load_settings({})) is None
    assert build_language_model(load_settings({})) is None
    with_key = load_settings({"ANTHROPIC_API_KEY": KEY})
    assert build_claude(with_key) is not None
    model = build_language_model(with_key)
    assert model is not None
    assert build_claude(with_key, model) is model  # one connection and one breaker for both jobs
    assert KEY not in repr(with_key)
    assert build_claude(load_settings({"ANTHROPIC_API_KEY": KEY, "HARRY_INGEST__CONTEXT": "template"})) is None
    with pytest.raises(ProviderNotConfigured, match="no ANTHROPIC_API_KEY"):
        build_claude(load_settings({"HARRY_INGEST__CONTEXT": "claude"}))


@pytest.mark.promise("RUN-7")
def test_the_sdks_are_not_imported_before_they_are_used() -> None:
    code = "import sys, harry_mcp.app; print(*({'anthropic', 'voyageai', 'aiohttp', 'PIL'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
