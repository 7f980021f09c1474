"""Quantities written one way: "10MB" and "10 MB", "10K" and "10,000", "2 PM" and "14:00", "24 hours" and "one day"."""

from __future__ import annotations

import regex

from harry_mcp.domain.differences.measures import NUMBERS, UNITS

_JOINED = regex.compile(r"(?<![\w.-])(\d+(?:[.,]\d+)*)(\p{L}{1,9})(?![\w-])")
_SHORT = regex.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?(?:k|K)(?![\w-])")
_MILLIONS = regex.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?(?:M|million)(?![\w-])")
_CLOCK = regex.compile(r"(?<![\w:])(\d{1,2})(?::(\d{2}))?\s?([ap])\.?m\b\.?", regex.IGNORECASE)
_ZERO = regex.compile(r"(?<![\w.,])0,(?=\d)")
_SPOKEN = "|".join(NUMBERS)
_LASTING = regex.compile(
    rf"(?<![\w.])(\d+(?:\.\d+)?|an?|{_SPOKEN})[\s-]+"
    r"(seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?)(?![\w-])",
    regex.IGNORECASE,
)
_MORE_UNITS = frozenset({"g", "mg", "l", "ml", "W", "kW", "V", "Hz", "kHz", "MHz", "GHz", "fps", "rpm"})
_SECONDS = {"s": 1, "min": 60, "h": 3600, "day": 86_400, "week": 604_800}
_NAMES = (("week", 604_800), ("day", 86_400), ("hour", 3600), ("minute", 60))


def measured(text: str) -> str:
    """The text with its quantities in one spelling and, of durations, in one unit."""
    text = _ZERO.sub("0.", text)
    text = _CLOCK.sub(_of_day, text)
    text = _SHORT.sub(lambda match: _times(match[1], 1000), text)
    text = _MILLIONS.sub(lambda match: _times(match[1], 1_000_000), text)
    text = _JOINED.sub(lambda match: f"{match[1]} {match[2]}" if _unit(match[2]) else match[0], text)
    return _LASTING.sub(_longest, text)


def _unit(letters: str) -> bool:
    return letters.casefold() in UNITS or letters in _MORE_UNITS


def _times(digits: str, factor: int) -> str:
    return f"{float(digits) * factor:.0f}"


def _of_day(match: regex.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3].casefold() == "p" else 0)
    return f"{hour:02}:{match[2] or '00'}"


def _longest(match: regex.Match[str]) -> str:
    """In the longest unit that it is a whole number of. "Requests an hour" are left."""
    said, unit = match[1].casefold(), UNITS[match[2].casefold()]
    if said in ("a", "an", "second", "first") or unit not in _SECONDS:
        return match[0]
    seconds = float(NUMBERS.get(said, said)) * _SECONDS[unit]
    for name, size in _NAMES:
        if seconds and seconds % size == 0:
            return f"{seconds / size:.0f} {name}s"
    return f"{seconds:g} seconds"
