"""The signs of ``signs.toml``: phrases and marks that attacks use, each with its reason and its weight."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import regex

from harry_mcp.stages.correct.findings import Finding, excerpt

_PART = regex.compile(r"@(\w+)@")


@dataclass(frozen=True, slots=True)
class Signal:
    """``name`` may be shared by several signals: the heaviest that matches speaks for the name."""

    name: str
    says: str
    weight: float
    by_line: bool
    pattern: regex.Pattern[str]


def signs(text: str) -> list[Finding]:
    """One finding for each name, the heaviest of its signals that match the text, or the text run into one line."""
    flowing = text.replace("\n", " ")
    best: dict[str, Finding] = {}
    for signal in _heaviest_first():
        if signal.name in best:
            continue
        found = _found(signal, (text,) if signal.by_line or flowing == text else (text, flowing))
        if found:
            best[signal.name] = found
    return list(best.values())


def _found(signal: Signal, readings: Iterable[str]) -> Finding | None:
    for reading in readings:
        match = signal.pattern.search(reading)
        if match:
            words = excerpt(reading, match.start(), match.end())
            return Finding(name=signal.name, says=signal.says, weight=signal.weight, excerpt=words)
    return None


@lru_cache(maxsize=1)
def _heaviest_first() -> tuple[Signal, ...]:
    data = resources.files("harry_mcp.stages.correct").joinpath("signs.toml")
    tables: dict[str, Any] = tomllib.loads(data.read_text(encoding="utf-8"))
    signals = [_compiled(table, tables["parts"]) for table in tables["sign"]]
    return tuple(sorted(signals, key=lambda signal: -signal.weight))


def _compiled(table: Mapping[str, Any], parts: Mapping[str, str]) -> Signal:
    patterns: list[str] = table["patterns"]
    whole = "|".join(f"(?:{_PART.sub(lambda match: parts[match[1]], pattern)})" for pattern in patterns)
    flags = regex.MULTILINE | (0 if table.get("cased") else regex.IGNORECASE)
    return Signal(
        table["name"], table["says"], table["weight"], bool(table.get("by_line")), regex.compile(whole, flags)
    )
