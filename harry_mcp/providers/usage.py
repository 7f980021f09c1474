"""What the providers were asked and what it cost, since the process started. Numbers only: no text, no key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from harry_mcp.metering import count_usage
from harry_mcp.ports import Completion


class Prices(Protocol):
    """Dollars for a million tokens."""

    @property
    def price_input(self) -> float: ...
    @property
    def price_cache_write(self) -> float: ...
    @property
    def price_cache_read(self) -> float: ...
    @property
    def price_output(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ModelPrices:
    """Prices of one model, in dollars for a million tokens."""

    price_input: float
    price_cache_write: float
    price_cache_read: float
    price_output: float


def dollars(tokens: Completion, prices: Prices) -> float:
    """What tokens cost."""
    return (
        tokens.input_tokens * prices.price_input
        + tokens.cache_write_tokens * prices.price_cache_write
        + tokens.cache_read_tokens * prices.price_cache_read
        + tokens.output_tokens * prices.price_output
    ) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """The answers of one model that came. What a call cost that was cancelled or failed, no service says."""

    model: str
    calls: int = 0
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.cache_write_tokens + self.cache_read_tokens + self.output_tokens


class UsageMeter:
    """Counts for one process; every provider of an app adds to the same one."""

    def __init__(self) -> None:
        self.since = datetime.now(UTC)
        self._models: dict[str, ModelUsage] = {}

    def add(self, model: str, tokens: Completion, *, dollars: float) -> None:
        """One answer of a model; the text of ``tokens`` is not looked at."""
        old = self._models.get(model, ModelUsage(model=model))
        self._models[model] = replace(
            old,
            calls=old.calls + 1,
            input_tokens=old.input_tokens + tokens.input_tokens,
            cache_write_tokens=old.cache_write_tokens + tokens.cache_write_tokens,
            cache_read_tokens=old.cache_read_tokens + tokens.cache_read_tokens,
            output_tokens=old.output_tokens + tokens.output_tokens,
            dollars=old.dollars + dollars,
        )
        kinds = {
            "input": tokens.input_tokens,
            "cache_write": tokens.cache_write_tokens,
            "cache_read": tokens.cache_read_tokens,
            "output": tokens.output_tokens,
        }
        count_usage(model, kinds, dollars=dollars)

    @property
    def models(self) -> Mapping[str, ModelUsage]:
        """The counts by the name of the model, in the order of their first answers."""
        return dict(self._models)

    @property
    def dollars(self) -> float:
        """What all of it cost at the prices of the settings."""
        return sum(usage.dollars for usage in self._models.values())
