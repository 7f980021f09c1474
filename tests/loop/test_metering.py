"""OPS-4: what is counted, under which names, and that no count tells what was asked or stored."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from harry_mcp import metering
from harry_mcp.loop.gauging import tell_queues, tell_queues_forever
from harry_mcp.settings import Settings
from tests.loop.small_base import ANN, BOB, KEYS, QUESTION, down, filled, official, up
from tests.loop.telemetry import Telemetry
from tests.loop.test_tracing import ASKED, BEFORE, LESSON, SECRETS, talking
from tests.loop.with_models import with_models
from tests.providers.scripted import ScriptedVoyage
from tests.providers.vendor import Answer

pytestmark = pytest.mark.promise("OPS-4")

# The names are an interface: dashboards and alarms are built on them.
UNITS = {
    "harry.stage.duration": "s",
    "harry.searches": "{search}",
    "harry.degraded": "{part}",
    "harry.gaps": "{gap}",
    "harry.web.searches": "{search}",
    "harry.verified.lookups": "{lookup}",
    "harry.corrections": "{correction}",
    "harry.feedback": "{verdict}",
    "harry.provider.call.duration": "s",
    "harry.provider.token.usage": "{token}",
    "harry.provider.cost": "USD",
    "harry.queue.length": "{item}",
}
ATTRIBUTES = {
    *("harry.stage", "harry.band", "harry.part", "harry.met.by", "harry.status", "harry.match", "harry.outcome"),
    *("harry.rating", "harry.queue", "gen_ai.request.model", "gen_ai.token.type", "error.type"),
}


async def test_a_life_is_counted_by_names_and_numbers_alone(settings: Settings, telemetry: Telemetry) -> None:
    before = telemetry.measured()
    overloaded = Answer({"type": "error", "error": {"type": "overloaded_error", "message": ASKED}}, status=529)
    sections: dict[str, dict[str, object]] = {"search": {"corrective": True}}
    async with with_models(
        settings, claude=talking(OtherWords=overloaded), voyage=ScriptedVoyage(), sections=sections
    ) as made:
        app = made.app
        await filled(app)
        entry = await official(app)
        await app.loop.submit_correction(LESSON, ANN)
        await app.loop.submit_correction(LESSON, BOB)
        known = await app.loop.search(QUESTION)
        missed = await app.loop.search("Who won the regatta of 1911?", history=[BEFORE])
        await app.loop.lookup(QUESTION)
        await app.loop.recorded()
        await up(app, known)
        await down(app, missed, source_urls=[KEYS.url])
        await app.loop.web("Who won the regatta of 1912?")
        await tell_queues(app.database)
        usage = app.usage.models
    after = telemetry.measured()

    def more(metric: str, value: str) -> float:
        return after[metric].get(value, 0) - before.get(metric, {}).get(value, 0)

    assert entry.id
    assert more("harry.searches", known.verdict.band.value) >= 1
    assert sum(more("harry.searches", band) for band in ("strong", "moderate", "weak")) == 3  # a lookup searches too
    assert more("harry.gaps", "web") == 1
    assert more("harry.gaps", "search") == (missed.gap_id != "") + (known.gap_id != "")
    assert more("harry.web.searches", "not_configured") == 1
    assert more("harry.verified.lookups", "exact") >= 1
    assert (more("harry.corrections", "created"), more("harry.corrections", "repeated")) == (1, 1)
    assert (more("harry.feedback", "up"), more("harry.feedback", "down")) == (1, 1)
    assert after["harry.queue.length"]["flagged_documents"] == 1
    assert set(after["harry.queue.length"]) == {
        *("flagged_documents", "pending_documents", "pending_corrections", "verified_candidates", "ingestions")
    }
    calls = 0
    for model, used in usage.items():
        for kind, number in (("input", used.input_tokens), ("output", used.output_tokens)):
            assert more("harry.provider.token.usage", f"{model} {kind}") == number
        if used.dollars:
            assert more("harry.provider.cost", model) == pytest.approx(used.dollars)
        assert more("harry.provider.call.duration", model) == used.calls
        calls += used.calls
    assert calls > 0
    for name, unit, point in telemetry.points():
        attributes: dict[str, object] = point["attributes"]
        assert UNITS[name] == unit
        assert set(attributes) <= ATTRIBUTES
        assert all(re.fullmatch(r"[A-Za-z0-9_.:/-]{1,60}", str(value)) for value in attributes.values()), attributes
    everything = json.dumps(after)
    for secret in [*SECRETS, QUESTION, "regatta", KEYS.url, "ann", "bob"]:
        assert secret not in everything


async def test_a_service_that_fails_counts_by_the_kind_of_error(settings: Settings, telemetry: Telemetry) -> None:
    before = telemetry.measured().get("harry.provider.call.duration", {})
    refused = Answer({"type": "error", "error": {"type": "overloaded_error", "message": ASKED}}, status=529)
    async with with_models(settings, claude=talking(Scores=refused)) as made:
        await made.app.loop.search(QUESTION)
    after = telemetry.measured()["harry.provider.call.duration"]
    failed = {name: count - before.get(name, 0) for name, count in after.items() if name.endswith("Error")}
    assert sum(failed.values()) == 1
    assert all(name.endswith(" ProviderError") for name in failed)


async def test_queues_are_counted_only_where_somebody_collects(settings: Settings, telemetry: Telemetry) -> None:
    assert metering.wanted()  # of this process, since the fixture put an SDK in place
    async with with_models(settings) as made:
        task = made.app._gauging  # pyright: ignore[reportPrivateUsage]
        assert task is not None
        assert not task.done()
    assert task.cancelled()


async def test_nothing_is_asked_of_the_database_without_an_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metering, "wanted", lambda: False)
    database: Any = None
    await tell_queues_forever(database)
