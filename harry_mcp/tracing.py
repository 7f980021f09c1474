"""Where the time of a stage goes: into the result, and as a span to OpenTelemetry.

Only the API is imported; without an SDK and an exporter the spans cost a few microseconds and go nowhere. No span
holds a question, a passage or a key: traces leave the machine more easily than the database does.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry import trace

_TRACER = trace.get_tracer("harry_mcp")


@contextmanager
def stage(name: str, timings_ms: dict[str, float]) -> Generator[trace.Span, None, None]:
    """A span ``harry.<name>`` around a stage, whose milliseconds also go into ``timings_ms`` under its name."""
    started = time.perf_counter()
    with _TRACER.start_as_current_span(f"harry.{name}") as span:
        try:
            yield span
        finally:
            timings_ms[name] = (time.perf_counter() - started) * 1000
