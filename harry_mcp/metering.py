"""What is counted for OpenTelemetry: answers, what they lacked, calls of services and what they cost, queues.

As in :mod:`harry_mcp.tracing` only the API is imported, and nothing here holds a word that somebody typed or stored:
attributes are names of stages, bands, outcomes and models. Durations are in seconds, as the conventions want; tokens
carry the attributes of the conventions for generative models.

``harry.searches`` by band, ``harry.degraded`` by part, ``harry.gaps`` by where they were met, ``harry.web.searches`` by
status, ``harry.verified.lookups`` by match, ``harry.corrections`` by outcome, ``harry.feedback`` by rating,
``harry.provider.call.duration`` by model and kind of error,
``harry.provider.token.usage`` by model and kind, ``harry.provider.cost`` by model, ``harry.queue.length`` by queue.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager

from opentelemetry import metrics

_METER = metrics.get_meter("harry_mcp")
# Seconds: local stages take milliseconds, a model takes seconds.
BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_SEARCHES = _METER.create_counter("harry.searches", unit="{search}", description="Searches that were answered.")
_DEGRADED = _METER.create_counter("harry.degraded", unit="{part}", description="Parts that searches lacked.")
_GAPS = _METER.create_counter("harry.gaps", unit="{gap}", description="Questions that the knowledge base missed.")
_WEB = _METER.create_counter("harry.web.searches", unit="{search}", description="Web searches for what was missed.")
_LOOKUPS = _METER.create_counter(
    "harry.verified.lookups", unit="{lookup}", description="Questions put to the official answers."
)
_CORRECTIONS = _METER.create_counter("harry.corrections", unit="{correction}", description="Corrections submitted.")
_FEEDBACK = _METER.create_counter("harry.feedback", unit="{verdict}", description="Verdicts of people on answers.")
_CALLS = _METER.create_histogram(
    "harry.provider.call.duration",
    unit="s",
    description="How long a call of a model or service took, with its retries.",
    explicit_bucket_boundaries_advisory=BUCKETS,
)
_TOKENS = _METER.create_counter(
    "harry.provider.token.usage", unit="{token}", description="Tokens that models read and wrote."
)
_COST = _METER.create_counter(
    "harry.provider.cost", unit="USD", description="What models and services cost, at the prices of the settings."
)
_QUEUES = _METER.create_gauge("harry.queue.length", unit="{item}", description="What waits for people or workers.")


def count_search(band: str, degraded: Iterable[str]) -> None:
    """An answered search, and what it was answered without."""
    _SEARCHES.add(1, {"harry.band": str(band)})
    for part in degraded:
        _DEGRADED.add(1, {"harry.part": part})


def count_gap(met_by: str) -> None:
    """A question that the knowledge base missed and that no official answer took; ``met_by``: search or web."""
    _GAPS.add(1, {"harry.met.by": met_by})


def count_web_search(status: str) -> None:
    """A web search."""
    _WEB.add(1, {"harry.status": str(status)})


def count_lookup(match: str) -> None:
    """A question that was put to the official answers."""
    _LOOKUPS.add(1, {"harry.match": str(match)})


def count_correction(outcome: str) -> None:
    """A submitted correction, by what became of it."""
    _CORRECTIONS.add(1, {"harry.outcome": str(outcome)})


def count_feedback(rating: str) -> None:
    """A verdict on an answer."""
    _FEEDBACK.add(1, {"harry.rating": str(rating)})


@contextmanager
def provider_call(model: str) -> Generator[None, None, None]:
    """A call of a model or service with all its attempts; a failure counts by the kind of its error."""
    started = time.perf_counter()
    attributes = {"gen_ai.request.model": model}
    try:
        yield
    except BaseException as error:
        attributes["error.type"] = type(error).__name__
        raise
    finally:
        _CALLS.record(time.perf_counter() - started, attributes)


def count_usage(model: str, tokens: Mapping[str, int], *, dollars: float) -> None:
    """An answer of a model: its tokens by their kind, and what they cost."""
    for kind, number in tokens.items():
        if number:
            _TOKENS.add(number, {"gen_ai.request.model": model, "gen_ai.token.type": kind})
    if dollars:
        _COST.add(dollars, {"gen_ai.request.model": model})


def tell_queues(lengths: Mapping[str, int]) -> None:
    """How long the queues are now."""
    for name, length in lengths.items():
        _QUEUES.set(length, {"harry.queue": name})


def wanted() -> bool:
    """Whether somebody collects: an SDK put a provider in place of the API's own, which collects nothing."""
    return not type(metrics.get_meter_provider()).__module__.startswith("opentelemetry.metrics")
