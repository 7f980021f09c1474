"""Prefixes of addresses that an index of whole words can look up.

A filter asks which sources begin with some text, which such an index cannot tell. It can tell which have one word among
theirs: so each source has its beginnings up to a slash, and a filter asks for the longest of its own. What is found
that way holds all that the filter lets through, and is looked at once more.
"""

from __future__ import annotations

# Deeper ones share the last of these: paths of hundreds of folders would make points larger than their vectors.
_MOST = 12


def beginnings(source: str) -> list[str]:
    """The beginnings of a source up to each slash, the shortest first."""
    found: list[str] = []
    at = source.find("/")
    while at >= 0 and len(found) < _MOST:
        found.append(source[: at + 1])
        at = source.find("/", at + 1)
    return found


def longest_beginning(prefix: str) -> str:
    """The beginning that every source under a prefix has; empty when the prefix holds none."""
    return (beginnings(prefix) or [""])[-1]
