"""For whom, when and how far a statement holds: what an edit of it widens or narrows."""

from __future__ import annotations

from dataclasses import dataclass

import regex


def _any(*words: str, also: str = "(?!)") -> regex.Pattern[str]:
    return regex.compile(rf"\b(?:{'|'.join(words)})\b|{also}", regex.IGNORECASE)


_ALL = _any(
    "(?<!of )(?<!at )(?<!after )all(?! about)", "every", "each", "any", "anyone", "everyone", "everybody", "always",
    "whenever",
)  # fmt: skip
_ONLY = _any("only", "solely", "exclusively")
_UPPER = _any(
    "at most", "up to", "no more than", "not more than", "max(?:imum)?", "less than", "fewer than", "smaller than",
    "lower than", "under", "below", "within", "or (?:less|fewer|lower|older)", also=r"<=?(?=\s*\d)|≤",
)  # fmt: skip
_LOWER = _any(
    "at least", "no (?:fewer|less) than", "min(?:imum)?", "more than", "greater than", "larger than", "higher than",
    "longer than", "over", "above", "or (?:more|newer|later|higher|above)", "starting (?:at|from)",
    also=r">=?(?=\s*\d)|≥",
)  # fmt: skip
_MUST = _any("must", "required?", "requires", "mandatory", "ha(?:s|ve) to", "shall", "need(?:s|ed)? to")
_MAY = _any("may", "optional(?:ly)?", "can", "need not", "if you (?:like|want|wish)", "not required", "allowed")
_UNBOUNDED = _any(
    "unlimited", "unrestricted", "infinite(?:ly)?", "no (?:limits?|maximum)", "without (?:a )?limits?", "as many"
)
_CONDITION = _any(
    "if", "unless", "provided(?: that)?", "except(?: for)?", "as long as", "in case", "only when", "when", "once",
    "depending on",
)  # fmt: skip
# Who it is said to, not under what condition it holds: "If you use WordPress, ..."
_ADDRESSED = regex.compile(
    r"\b(?:if|when|once|unless) (?:you(?:'d|’d|'re|’re)?|your \w+|needed|necessary|possible)"
    r"(?: (?:are|have|would|do not|don't))?"
    r"(?: (?:using|use|want|need|like|prefer|wish|plan|choose|looking|on|done|finished|added?|installed|ready))?\b",
    regex.IGNORECASE,
)
_NUMBER = regex.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What an edit did to how far a statement holds.

    ``bound_turned``: a most became a least, or there is a limit where there was none. ``must_turned``: what had to be
    done may be, or the other way round. ``only``: what held in general holds for some only, or the other way round, and
    ``all_lost``: one of them speaks of all. ``bound_alone`` and ``conditioned``: a bound, a condition came or went.
    """

    bound_turned: bool
    bound_alone: bool
    must_turned: bool
    only: bool
    all_lost: bool
    conditioned: bool


def scope_of(before: str, after: str) -> Scope:
    """Compare two statements without markup. English only."""
    return Scope(
        bound_turned=_turned(before, after, _UPPER, _LOWER) or _bounded(before, after) or _bounded(after, before),
        bound_alone=_which(before, _UPPER, _LOWER) * _which(after, _UPPER, _LOWER) == 0
        and _which(before, _UPPER, _LOWER) != _which(after, _UPPER, _LOWER),
        must_turned=_turned(before, after, _MUST, _MAY),
        only=len(_ONLY.findall(before)) != len(_ONLY.findall(after)),
        all_lost=len(_ALL.findall(before)) != len(_ALL.findall(after)),
        conditioned=_conditions(before) != _conditions(after),
    )


def _turned(before: str, after: str, one: regex.Pattern[str], other: regex.Pattern[str]) -> bool:
    """Each text has only one of the two, and not the same one."""
    old, new = _which(before, one, other), _which(after, one, other)
    return {old, new} == {1, 2}


def _which(text: str, one: regex.Pattern[str], other: regex.Pattern[str]) -> int:
    """1 or 2 for the one that it has, 3 for both; what one of them finds within a find of the other does not count."""
    first = [match.span() for match in one.finditer(text)]
    second = [match.span() for match in other.finditer(text)]
    first_free = [span for span in first if not _inside(span, second)]
    second_free = [span for span in second if not _inside(span, first)]
    return bool(first_free) + 2 * bool(second_free)


def _inside(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end and (start, end) != span for start, end in others)


def _bounded(one: str, other: str) -> bool:
    """One knows no limit, and the other says a number."""
    return bool(_UNBOUNDED.search(one) and not _UNBOUNDED.search(other) and _NUMBER.search(other))


def _conditions(text: str) -> int:
    return len(_CONDITION.findall(_ADDRESSED.sub(" ", text)))
