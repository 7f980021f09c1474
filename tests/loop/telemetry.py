"""A real OpenTelemetry SDK that keeps what it is given, while a test looks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult


class _Keeping(SpanExporter):
    """Keeps spans while ``looking``: the providers stay for the rest of the process, and would keep all of them."""

    def __init__(self) -> None:
        self.kept: list[ReadableSpan] = []
        self.looking = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self.looking:
            self.kept.extend(spans)
        return SpanExportResult.SUCCESS


class Telemetry:
    """What was exported. The providers can be set once in a process, so that all tests share them."""

    def __init__(self) -> None:
        self._spans = _Keeping()
        self.reader = InMemoryMetricReader()
        self.tracing = TracerProvider()
        self.tracing.add_span_processor(SimpleSpanProcessor(self._spans))
        self.metering = MeterProvider([self.reader])

    def look(self, looking: bool) -> None:
        self.forget()
        self._spans.looking = looking

    def forget(self) -> None:
        self._spans.kept.clear()

    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.kept)

    def ours(self) -> dict[str, list[ReadableSpan]]:
        """The product's spans by the name of their stage."""
        found: dict[str, list[ReadableSpan]] = {}
        for span in self.spans():
            if span.name.startswith("harry."):
                found.setdefault(span.name.removeprefix("harry."), []).append(span)
        return found

    def points(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Metric, unit and data point of all that was measured."""
        data = self.reader.get_metrics_data()
        told: dict[str, Any] = json.loads(data.to_json()) if data else {"resource_metrics": []}
        return [
            (metric["name"], metric["unit"], point)
            for resource in told["resource_metrics"]
            for scope in resource["scope_metrics"]
            if scope["scope"]["name"] == "harry_mcp"
            for metric in scope["metrics"]
            for point in metric["data"]["data_points"]
        ]

    def measured(self) -> dict[str, dict[str, float]]:
        """Counts by metric and by the values of its attributes."""
        found: dict[str, dict[str, float]] = {}
        for name, _, point in self.points():
            value = " ".join(map(str, point["attributes"].values()))
            found.setdefault(name, {})[value] = float(point["value"] if "value" in point else point["count"])
        return found
