"""Where the time of a stage goes: into the result, and as a span and a measurement to OpenTelemetry.

Only the API is imported; without an SDK and an exporter they cost a few microseconds and go nowhere. Nothing here holds
a question, a passage or a key: traces leave the machine more easily than the database does.

Spans: ``harry.<stage>``; those of a search stand under ``harry.search``. Metric: ``harry.stage.duration`` in seconds
by stage. What else is measured is in :mod:`harry_mcp.metering`.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import metrics, trace

from harry_mcp.metering import BUCKETS

_TRACER = trace.get_tracer("harry_mcp")
_METER = metrics.get_meter("harry_mcp")
_DURATION = _METER.create_histogram(
    "harry.stage.duration",
    unit="s",
    description="How long a stage took.",
    explicit_bucket_boundaries_advisory=BUCKETS,
)


@contextmanager
def stage(name: str, timings_ms: dict[str, float]) -> Generator[trace.Span, None, None]:
    """A span ``harry.<name>`` around a stage, whose milliseconds also go into ``timings_ms`` under its name.

    A failure is told by the kind of its error alone, for the words of one may repeat what was asked.
    """
    started = time.perf_counter()
    with _TRACER.start_as_current_span(f"harry.{name}", record_exception=False, set_status_on_exception=False) as span:
        try:
            yield span
        except BaseException as error:
            span.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise
        finally:
            seconds = time.perf_counter() - started
            timings_ms[name] = seconds * 1000
            _DURATION.record(seconds, {"harry.stage": name})
