"""What the web was asked, what it answered, and what of that may be passed on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from harry_mcp.domain.search import gap_id

_LONGEST_SHOWN = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page as a search service names it. Nothing of it was checked.

    ``score`` is the service's own, 0 to 1; ``snippet`` is what it found to fit the question, ``content`` the page's
    text in Markdown, "" when it has none.
    """

    url: str
    title: str = ""
    score: float = 0.0
    snippet: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSource:
    """A page that was let through. ``passages`` are its best ones in the order of the page, cleaned, never fenced."""

    url: str
    title: str
    score: float
    passages: tuple[str, ...]
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedPage:
    """A result that was not let through: its address, made safe to show, and why in half a sentence."""

    url: str
    reason: str


class WebStatus(StrEnum):
    """``empty``: it was asked, and nothing was let through. An outage is ``degraded``, never ``empty``."""

    OK = "ok"
    EMPTY = "empty"
    DEGRADED = "degraded"
    NOT_CONFIGURED = "not_configured"


class WebAction(StrEnum):
    """What the agent should do next."""

    ANSWER_FROM_WEB_WITH_CARE = "answer_from_web_with_care"
    SAY_YOU_DO_NOT_KNOW = "say_you_do_not_know"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebFinding:
    """What one call of the web came to."""

    sources: tuple[WebSource, ...] = ()
    refused: tuple[RefusedPage, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAnswer:
    """The answer of the flow. ``asked_at`` is when the web itself was asked, None when it was not.

    ``lacks``: what must be set before the web can be asked, in sentences.
    """

    web_id: str
    question: str
    query: str
    status: WebStatus
    next_action: WebAction
    reason: str
    finding: WebFinding = WebFinding()
    gap_id: str = ""
    topic: str = ""
    hosts: tuple[str, ...] = ()
    cached: bool = False
    asked_at: datetime | None = None
    degraded: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict[str, float])


def cache_key(question: str, hosts: Sequence[str], recipe: Sequence[object]) -> str:
    """One key for one question, however it is typed, over one list of hosts and one way of choosing passages."""
    parts = [gap_id(question), sorted(hosts), [str(part) for part in recipe]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def shown_address(address: str) -> str:
    """A refused address in plain ASCII and bounded, so that what it imitates or hides is seen."""
    plain = re.sub(r"[\x00-\x20\x7f]", "?", address.encode("ascii", "backslashreplace").decode("ascii"))
    return plain if len(plain) <= _LONGEST_SHOWN else plain[: _LONGEST_SHOWN - 3] + "..."
