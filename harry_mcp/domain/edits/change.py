"""What an edit did to a statement, as far as facts go."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import regex

from harry_mcp.domain.denials import Denials, denials
from harry_mcp.domain.differences import Difference, Kind, differences
from harry_mcp.domain.differences.comparing import NOTHING_KNOWN
from harry_mcp.domain.differences.forms import key
from harry_mcp.domain.differences.matching import match
from harry_mcp.domain.differences.reading import Reading, Word, read
from harry_mcp.domain.edits.bare import bare
from harry_mcp.domain.edits.cells import cells_turned
from harry_mcp.domain.edits.exchanges import (
    counting,
    exchanges,
    inserted,
    is_german,
    naming,
    slip,
    words_of,
    written_as_name,
)
from harry_mcp.domain.edits.labels import Labels, labels_of, without_denying_labels
from harry_mcp.domain.edits.measured import measured
from harry_mcp.domain.edits.scope import Scope, scope_of

_NUMBERS = frozenset({Kind.NUMBER, Kind.VERSION, Kind.DATE, Kind.UNIT})
_ONE = frozenset({"one", "single", "a", "an"})
# What is nobody's fact: where a page stands, when it was written, and of whom an example tells.
_ASIDE = regex.compile(
    r"\b(?:pages?|figures?|fig|tables?|chapters?|sections?)[\s.#]+\d|©|\bcopyright\b"
    r"|^\W*(?:last |data )?(?:updated|modified|reviewed|edited|collected)\b|\bas of\b"
    r"|\b(?:for instance|for example|e\.g\.|in (?:the|this) (?:example|screenshot|picture))",
    regex.IGNORECASE,
)
_KEEPING_OUT = ("exclude", "prevent", "avoid", "block", "hide", "ignore", "omit")
# What is put in behind one of these says for whom, when or how far the rest holds.
_TAILS = words_of("who whose with without for after before if unless when per within until except while during")
# Of a longer statement (a page without line breaks, a minified file) what lies around the edit is compared.
_LONGEST, _AROUND = 2000, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an edit did to a statement.

    ``aside``: both sides tell an example, or where and when something was written. ``exchanged`` is one thing in the
    place of another, ``alone`` and ``lost`` are things without a counterpart; ``kind`` stands for a thing of a few, as
    a weekday, a unit of time, an edition. ``turned``: the opposite is said. ``lost`` is the share of the words that
    carry meaning; ``taken_away``: nothing came in their place. ``same``: only markup, case or spacing changed.
    """

    labels: Labels
    scope: Scope
    aside: bool
    number_exchanged: bool
    number_alone: bool
    name_exchanged: bool
    name_lost: bool
    word_exchanged: bool
    kind_exchanged: bool
    kind_lost: bool
    narrowed: bool
    restricted: bool
    turned: bool
    denial: bool
    lost: float
    taken_away: bool
    same: bool


def change_of(before: str, after: str) -> Change:
    """The features of one edit."""
    marked_old, marked_new = _around(bare(before), bare(after))
    old, new = measured(marked_old), measured(marked_new)
    found = differences(old, new).found
    one, other = read(old), read(new)
    matched = match(one, other, NOTHING_KNOWN.known)
    soft = _denial(found) and (_keeps_out(matched.left_a) or _keeps_out(matched.left_b))
    denied = denials(*(read(without_denying_labels(text)) for text in (old, new)))
    numbers = [each for each in found if each.kind in _NUMBERS]
    names = [each for each in found if each.kind is Kind.NAME]
    kinds = [each for each in found if each.kind is Kind.VARIANT]
    exchanged = list(exchanges(one, other, matched))
    german = is_german(one) and is_german(other)
    labels, scope = labels_of(marked_old, marked_new), scope_of(old, new)
    return Change(
        labels=labels,
        scope=scope,
        aside=bool(_ASIDE.search(old) and _ASIDE.search(new)),
        number_exchanged=_exchanged(numbers)
        or any(_was_one(each, one, other) for each in numbers)
        or any(counting(pair) for pair in exchanged),
        number_alone=any(bool(each.a) != bool(each.b) for each in numbers),
        name_exchanged=_exchanged(names if not german else [each for each in names if written_as_name(each)])
        or any(naming(pair, german=german) for pair in exchanged),
        name_lost=any(each.a and not each.b for each in names),
        word_exchanged=any(len(pair) == 2 for pair in exchanged) or (german and _exchanged(names)),
        kind_exchanged=_exchanged(kinds),
        kind_lost=any(each.a and not each.b for each in kinds),
        narrowed=scope.only or (scope.all_lost and any(bool(each.a) != bool(each.b) for each in (*kinds, *names))),
        restricted=not matched.left_a and bool(_TAILS & set(inserted(one, other))),
        turned=(not soft and _turned(found, denied)) or cells_turned(old, new),
        denial=_denial(found) and not soft,
        lost=len(matched.left_a) / max(1, len(one.content)),
        taken_away=not matched.left_b and any(word.folded not in labels.gone for word in matched.left_a),
        same=one.folded == other.folded and not (scope.bound_turned or cells_turned(old, new)),
    )


def _around(before: str, after: str) -> tuple[str, str]:
    """What lies around the edit, where a statement is too long to be compared word by word."""
    if max(len(before), len(after)) <= _LONGEST:
        return before, after
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    first = max(0, start - _AROUND)
    old, new = (text[first : max(start, len(text) - end) + _AROUND][:_LONGEST] for text in (before, after))
    return old, new


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))


def _exchanged(found: Sequence[Difference]) -> bool:
    return any(each.a and each.b and not slip(each.a.casefold(), each.b.casefold()) for each in found)


def _turned(found: Sequence[Difference], denied: Denials) -> bool:
    """What was affirmed is denied, or the opposite is said. Both together say the same: "excludes", "not included"."""
    opposite = any(each.kind is Kind.OPPOSITE and each.certain and each.a and each.b for each in found)
    return opposite != (bool(denied.turned and not denied.soft) or (opposite and _denial(found)))


def _denial(found: Sequence[Difference]) -> bool:
    return any(each.kind is Kind.NEGATION for each in found)


def _keeps_out(words: Sequence[Word]) -> bool:
    """ "exclude your visits" says what "not to be counted" says."""
    return any(word.key in _keys_of_keeping_out() for word in words)


@functools.cache
def _keys_of_keeping_out() -> frozenset[str]:
    return frozenset(key(word) for word in _KEEPING_OUT)


def _was_one(each: Difference, one: Reading, other: Reading) -> bool:
    """ "one project" became "three projects": the one counts as grammar."""
    if each.a and each.b:
        return False
    counted, single = (one, other) if each.a else (other, one)
    return bool(_ONE & set(single.folded) - set(counted.folded))
