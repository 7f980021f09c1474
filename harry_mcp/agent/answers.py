"""An answer with everything that a person, a script or a transcript wants to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harry_mcp.agent.contract import Verdict
from harry_mcp.agent.sources import Source
from harry_mcp.domain.plain import one_line
from harry_mcp.providers.usage import UsageMeter

# Who wrote an answer that is made of quotes.
QUOTES = "quotes"


class Outcome(StrEnum):
    """What kind of answer it is. The verdict decides, and no model."""

    OFFICIAL = "official"
    ANSWERED = "answered"
    WITH_CARE = "answered_with_care"
    FROM_WEB = "answered_from_web"
    FROM_CORRECTIONS = "answered_from_corrections"
    NOT_KNOWN = "not_known"
    REPLIED = "replied"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A call of a tool, and how it ended. ``by`` is ``agent`` or ``model``."""

    name: str
    by: str
    arguments: Mapping[str, Any]
    ok: bool
    said: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "by": self.by,
            "arguments": dict(self.arguments),
            "ok": self.ok,
            "said": self.said,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens and dollars of the agent's own models. What the server spends is the server's to tell."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0

    def __sub__(self, earlier: Spent) -> Spent:
        return Spent(
            calls=self.calls - earlier.calls,
            input_tokens=self.input_tokens - earlier.input_tokens,
            output_tokens=self.output_tokens - earlier.output_tokens,
            dollars=self.dollars - earlier.dollars,
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "dollars": round(self.dollars, 6),
        }


def spent_of(usage: UsageMeter) -> Spent:
    """What a meter has counted so far; what was written to a cache or read from it is input too."""
    models = usage.models.values()
    return Spent(
        calls=sum(each.calls for each in models),
        input_tokens=sum(each.input_tokens + each.cache_write_tokens + each.cache_read_tokens for each in models),
        output_tokens=sum(each.output_tokens for each in models),
        dollars=usage.dollars,
    )


@dataclass(frozen=True, slots=True)
class Proposal:
    """What of an answer could become an official one: its text alone, and the addresses or names it rests on."""

    text: str
    rests_on: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``notes`` is what the agent itself has to say: what it dropped, replaced or went without.

    ``result_id`` names the result for feedback. ``degraded``: a part that was to help did not.
    """

    question: str
    text: str
    outcome: Outcome
    verdict: Verdict
    sources: tuple[Source, ...] = ()
    caveats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    written_by: str = QUOTES
    search_id: str = ""
    result_id: str = ""
    gap_id: str = ""
    degraded: bool = False
    proposal: Proposal | None = None
    tools: tuple[ToolUse, ...] = ()
    spent: Spent = field(default_factory=Spent)
    seconds: float = 0.0

    @property
    def placed_caveats(self) -> list[str]:
        """Each caveat behind the numbers of the sources that it is about."""
        numbers: dict[str, list[int]] = {}
        for source in self.sources:
            for caveat in source.caveats:
                numbers.setdefault(one_line(caveat, 500), []).append(source.number)
        return [f"{', '.join(f'[{each}]' for each in dict.fromkeys(of))} {said}" for said, of in numbers.items()]

    def as_json(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "answer": self.text,
            "outcome": self.outcome.value,
            "verdict": self.verdict.model_dump(mode="json"),
            "sources": [source.as_json() for source in self.sources],
            "caveats": list(self.caveats),
            "notes": list(self.notes),
            "corrections": list(self.corrections),
            "written_by": self.written_by,
            "search_id": self.search_id,
            "result_id": self.result_id,
            "gap_id": self.gap_id,
            "degraded": self.degraded,
            "tools": [use.as_json() for use in self.tools],
            "spent": self.spent.as_json(),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Heard:
    """More of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The text heard so far does not stand, and why. What does comes next."""

    why: str


@dataclass(frozen=True, slots=True)
class Calling:
    """A tool is being called."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Called:
    """It answered, or not."""

    use: ToolUse


Event = Heard | Withdrawn | Calling | Called
Listener = Callable[[Event], None]
