"""OPS-4: every stage makes a span and a measurement, and none of them tells what was asked or found."""

from __future__ import annotations

import json

import pytest
from mcp.client import Client

from harry_mcp.domain.corrections import Lesson
from harry_mcp.errors import ProviderError
from harry_mcp.server.server import build_server
from harry_mcp.settings import Settings
from harry_mcp.tracing import stage
from tests.loop.small_base import ANN
from tests.loop.telemetry import Telemetry
from tests.loop.with_models import CLAUDE_KEY, DOCUMENTS, VOYAGE_KEY, with_models
from tests.providers.scripted import ScriptedAnthropic, ScriptedVoyage, shaped
from tests.providers.vendor import Answer, message

ASKED = "And how do I rotate it?"
BEFORE = "user: What is an API key?"
STAND_ALONE = "How do I rotate an API key?"
HYPOTHETICAL = "Press Rotate on the page of the key."
OTHER_WORDS = "replace a secret token"
LESSON = Lesson(
    topic="keys",
    wrong="An API key is rotated by mail.",
    truth="An API key is rotated under Settings.",
    line="Rotate an API key under Settings, not by mail.",
)
SECRETS = [
    ASKED,
    BEFORE.removeprefix("user: "),
    STAND_ALONE,
    HYPOTHETICAL,
    OTHER_WORDS,
    LESSON.line,
    CLAUDE_KEY,
    VOYAGE_KEY,
    *(text for _, text in DOCUMENTS),
    *(title for title, _ in DOCUMENTS),
]
STAGES = ["rewrite", "hyde", "embed", "keyword", "vector", "signals", "recall", "rank", "passages", "rerank"]
ALLOWED = {"harry.band", "harry.degraded"}


def assert_tells_nothing(telemetry: Telemetry) -> None:
    everything = "\n".join([*(span.to_json() for span in telemetry.spans()), json.dumps(telemetry.measured())])
    for secret in SECRETS:
        assert secret not in everything
    for spans in telemetry.ours().values():
        for span in spans:
            assert set(span.attributes or {}) <= ALLOWED
            assert not span.events


def talking(**answers: Answer) -> ScriptedAnthropic:
    return ScriptedAnthropic(
        **{
            "StandAlone": shaped({"question": STAND_ALONE}),
            "complete": Answer(message(HYPOTHETICAL)),
            "OtherWords": shaped({"query": OTHER_WORDS}),
            **answers,
        }
    )


@pytest.mark.promise("OPS-4")
async def test_every_stage_is_a_span_under_its_search_and_a_measurement(
    settings: Settings, telemetry: Telemetry
) -> None:
    async with with_models(settings, claude=talking(), voyage=ScriptedVoyage()) as made:
        await made.app.loop.submit_correction(LESSON, ANN)
        telemetry.forget()
        before = telemetry.measured()
        result = await made.app.loop.search(ASKED, history=[BEFORE])
        after = telemetry.measured()
    spans = telemetry.ours()
    assert set(STAGES) <= set(spans)
    (search,) = spans["search"]
    assert search.attributes == {"harry.band": result.verdict.band.value, "harry.degraded": ()}
    for name in STAGES:
        (span,) = spans[name]
        assert span.parent == search.get_span_context()
        assert result.timings_ms[name] >= 0

    def more(metric: str, value: str) -> float:
        return after[metric][value] - before.get(metric, {}).get(value, 0)

    assert [more("harry.stage.duration", name) for name in (*STAGES, "search")] == [1] * (len(STAGES) + 1)
    assert more("harry.searches", result.verdict.band.value) == 1
    assert_tells_nothing(telemetry)


@pytest.mark.promise("OPS-4")
async def test_what_was_left_out_is_told_by_name_and_no_more(settings: Settings, telemetry: Telemetry) -> None:
    refused = {"type": "error", "error": {"type": "overloaded_error", "message": f"{ASKED} {CLAUDE_KEY}"}}
    claude = talking(Scores=Answer(refused, status=529), OtherWords=Answer(refused, status=529))
    sections: dict[str, dict[str, object]] = {"search": {"corrective": True}}
    async with with_models(settings, claude=claude, sections=sections) as made:
        telemetry.forget()
        result = await made.app.loop.search("My colleagues want the thing with one password")
    assert set(result.degraded) == {"rerank_failed", "corrective_failed"}
    spans = telemetry.ours()
    assert (spans["search"][0].attributes or {})["harry.degraded"] == result.degraded
    (corrective,) = spans["corrective"]
    assert not corrective.status.is_ok
    assert {"rerank_failed", "corrective_failed"} <= set(telemetry.measured()["harry.degraded"])
    assert_tells_nothing(telemetry)


@pytest.mark.promise("OPS-4")
def test_a_failure_is_told_by_its_kind(telemetry: Telemetry) -> None:
    timings: dict[str, float] = {}
    with pytest.raises(ProviderError), stage("broken", timings):
        raise ProviderError(f"{STAND_ALONE} {CLAUDE_KEY}")
    (span,) = telemetry.ours()["broken"]
    assert span.status.description == "ProviderError"
    assert timings["broken"] >= 0
    assert_tells_nothing(telemetry)


@pytest.mark.promise("OPS-4")
async def test_the_protocol_tells_nothing_either(settings: Settings, telemetry: Telemetry) -> None:
    async with with_models(settings) as made:
        telemetry.forget()
        async with Client(build_server(made.app.settings)) as client:
            answer = await client.call_tool("search_kb", {"query": STAND_ALONE})
            refused = await client.call_tool("read_document", {"document_id": STAND_ALONE})
    assert not answer.is_error
    assert refused.is_error
    (search,) = telemetry.ours()["search"]
    assert search.parent is not None  # a host that sends its trace along sees the search within it
    assert_tells_nothing(telemetry)
