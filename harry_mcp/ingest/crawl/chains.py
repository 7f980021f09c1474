"""What shows only when every address is decided: redirects that run in circles, duplicates of what is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harry_mcp.domain.crawls import Entry, Outcome, Reason

_NO_HOME = frozenset({Outcome.GONE, Outcome.DUPLICATE, Outcome.REDIRECTED})
_COPIES = frozenset({Reason.SAME_CONTENT, Reason.CANONICAL})
_LONGEST = 50


@dataclass(frozen=True, slots=True)
class Homeless:
    """Addresses whose content would be lost: ``alone`` are those that the page's own canonical link led astray,
    ``fingerprints`` the contents that have no page."""

    ids: tuple[int, ...]
    alone: tuple[int, ...]
    fingerprints: tuple[str, ...]


def circles(entries: Iterable[Entry]) -> list[int]:
    """The ids of addresses whose redirects never arrive: those in a circle, and those that lead into one."""
    moved = {entry.url: entry for entry in entries if entry.outcome == Outcome.REDIRECTED}
    return [entry.id for url, entry in moved.items() if end_of(url, moved) == ""]


def homeless(entries: Iterable[Entry]) -> Homeless:
    """Duplicates whose original did not come to be stored, or has other content by now."""
    by_url = {entry.url: entry for entry in entries}
    moved = {
        url: entry
        for url, entry in by_url.items()
        if entry.outcome == Outcome.REDIRECTED or (entry.outcome == Outcome.GONE and entry.reason == Reason.MOVED)
    }
    lost = {url: entry for url, entry in by_url.items() if _is_copy(entry) and not _has_home(entry, by_url, moved)}
    first = [entry for entry in lost.values() if not _waits(entry, lost, moved)]
    return Homeless(
        ids=tuple(entry.id for entry in first),
        alone=tuple(entry.id for entry in first if entry.reason == Reason.CANONICAL),
        fingerprints=tuple(entry.fingerprint for entry in first if entry.reason == Reason.SAME_CONTENT),
    )


def _is_copy(entry: Entry) -> bool:
    return entry.reason in _COPIES and entry.outcome in _NO_HOME


def _waits(entry: Entry, lost: Mapping[str, Entry], moved: Mapping[str, Entry]) -> bool:
    """Whether a copy of a copy: the one that it points to is fetched first, and may then be its home."""
    if entry.reason != Reason.CANONICAL:
        return False
    home = lost.get(end_of(entry.target, moved))
    for _ in range(_LONGEST):
        if home is None or home.url == entry.url:  # two that point to each other would wait for ever
            return home is None and end_of(entry.target, moved) in lost
        home = lost.get(end_of(home.target, moved))
    return True


def _has_home(entry: Entry, by_url: Mapping[str, Entry], moved: Mapping[str, Entry]) -> bool:
    home = by_url.get(end_of(entry.target, moved))
    for _ in range(_LONGEST):  # a canonical page may name another one, or have a twin that was stored in its place
        if home is None or not _is_copy(home):
            break
        home = by_url.get(end_of(home.target, moved))
    if home is None or home.url == entry.url or not home.stored or home.outcome in _NO_HOME:
        return False
    return entry.reason == Reason.CANONICAL or home.fingerprint == entry.fingerprint


def end_of(url: str, moved: Mapping[str, Entry]) -> str:
    """Where the redirects from an address end; "" when they never do."""
    for _ in range(_LONGEST):
        if url not in moved:
            return url
        url = moved[url].target
    return ""
