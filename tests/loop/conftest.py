"""The telemetry of this process, set up when a test first asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import metrics, trace

from tests.loop.telemetry import Telemetry


@pytest.fixture(scope="session")
def exported() -> Iterator[Telemetry]:
    made = Telemetry()
    trace.set_tracer_provider(made.tracing)
    metrics.set_meter_provider(made.metering)
    yield made
    made.tracing.shutdown()
    made.metering.shutdown()


@pytest.fixture
def telemetry(exported: Telemetry) -> Iterator[Telemetry]:
    exported.look(True)
    yield exported
    exported.look(False)
