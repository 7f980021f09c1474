"""Two versions of a text side by side: the statements that changed, each with the one that took its place.

A statement is a sentence, a list item, a row of a table, a heading or a line of code, with its markup but without tags.
What stands in both texts word for word, wherever it stands, did not change. Of the rest each is paired with the most
alike.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from harry_mcp.domain.differences.cutting import SPACELESS
from harry_mcp.domain.edits.bare import bare

_FENCE = regex.compile(r"^\s*(?:```|~~~)")
_OPENS = regex.compile(r"^\s*(?:[-*+•]\s|\d+[.)]\s|\||#{1,6}\s|>)")
_RULE = regex.compile(r"^[\s|:=*_-]*$")
_MARKER = regex.compile(r"^\s*(?:>\s*)*(?:(?:[-*+•]|#{1,6}|\d{1,3}[.)])\s+)?")
# After "e.g." and the like, and before what goes on in small letters, no sentence ends.
_END = regex.compile(
    r"(?<!\b(?i:e\.g|i\.e|etc|vs|approx|no|fig|incl|resp|\p{L}))[.!?…][\"'”’»)\]*_`]*\s+(?=[\"'“‘«(\[*_`]*[\p{Lu}\p{Lt}\p{Lo}\p{N}])"
    r"|[。！？।؟۔][」』”’）】》]*\s*"
)
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}_]+")
# What makes another statement of the same words: a currency, a share, a sign, a bound, a mark in a cell.
_SIGN = regex.compile(r"\p{Sc}|(?<=\d\s?)%|(?<![\w.)\]-])[-−+](?=[\d.])|[<>≤≥](?==?\s*\d)|[✓✔✅☑✗✘✕❌☐]")
# Tags of HTML, but for what stands in code; they say nothing themselves, and come and go with the layout of a site.
_TAG = regex.compile(r"(`+[^`]*`+)|</?(?!https?:|mailto:)\p{L}[^<>]*>", regex.IGNORECASE)
# Pairs that share less than this (Dice, of words weighed by their rarity) are no two versions of one statement.
_LEAST_ALIKE = 0.5
# Statements that one is held against at most.
_MOST_CANDIDATES = 40
# Of two that are equally alike, the one in the same place of the text.
_PLACE = 0.1
# What a number weighs beside a word.
_NUMERAL = 0.5
# A split statement: what else takes words of it over must consist of them by this share.
_PART = 0.7


@dataclass(frozen=True, slots=True)
class Aligned:
    """A statement before and after; one side is empty where it has no counterpart."""

    before: str
    after: str


def distance(before: str, after: str) -> float:
    """The Jaccard distance of the sets of words, 0 for the same words and 1 for none in common."""
    old, new = set(_words(before)), set(_words(after))
    return 1 - len(old & new) / len(old | new) if old | new else 0.0


def changed_statements(before: str, after: str) -> list[Aligned]:
    """What changed from one text to the other, in the order of the newer one; what is gone without successor last."""
    gone, come = _changed(list(statements(before)), list(statements(after)))
    pairs = _paired(gone, come)
    turned = {new: old for old, new in pairs.items()}
    parts = {new: _parts(new, old, turned, gone, come) for new, old in turned.items()}
    absorbed = {place for each in parts.values() for place in each}
    found: list[Aligned] = []
    for place, item in enumerate(come):
        if place in turned:
            whole = sorted({place, *parts[place]})
            found.append(Aligned(gone[turned[place]].text, " ".join(come[part].text for part in whole)))
        elif place not in absorbed:
            found.append(Aligned("", item.text))
    return found + [Aligned(item.text, "") for place, item in enumerate(gone) if place not in pairs]


def statements(text: str) -> Iterator[str]:
    """The statements of a Markdown text in order."""
    for block, code in _blocks(text):
        if code:
            yield from _spoken(block)
            continue
        block = _TAG.sub(lambda tag: tag[1] or " ", block)
        start = _MARKER.match(block)
        place = start.end() if start else 0
        if not block.lstrip().startswith("|"):
            for end in _END.finditer(block, place):
                yield from _spoken(block[place : end.end()])
                place = end.end()
        yield from _spoken(block[place:])


def _spoken(part: str) -> Iterator[str]:
    line = " ".join(part.split())
    if _WORD.search(line):
        yield line


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs, list items and rows with their soft-wrapped lines; a line of code alone, and told to be one."""
    held: list[str] = []
    in_code = False
    for line in text.splitlines():
        fence = bool(_FENCE.match(line))
        alone = fence or in_code or not line.strip() or bool(_RULE.match(line))
        if alone or _OPENS.match(line):
            yield from _joined(held)
            held = []
        in_code ^= fence
        if in_code and not fence:
            yield line, True
        elif not alone:
            held.append(line)
    yield from _joined(held)


def _joined(held: Sequence[str]) -> Iterator[tuple[str, bool]]:
    if held:
        yield "\n".join(held), False


@dataclass(frozen=True, slots=True)
class _Item:
    """A statement with its words, its number among those that changed, and its place in the text, 0 to 1."""

    text: str
    words: Counter[str]
    index: int
    place: float


def _changed(before: Sequence[str], after: Sequence[str]) -> tuple[list[_Item], list[_Item]]:
    """The statements that only one of the texts has. Spacing, letter case, markup and where links lead do not count."""
    old, new = [_key(text) for text in before], [_key(text) for text in after]
    in_both = Counter(old) & Counter(new)
    return _left(before, old, in_both), _left(after, new, in_both)


def _left(texts: Sequence[str], keys: Sequence[str], in_both: Mapping[str, int]) -> list[_Item]:
    spent = Counter(in_both)
    found: list[_Item] = []
    for place, (text, key) in enumerate(zip(texts, keys, strict=True)):
        if spent[key]:
            spent[key] -= 1
        else:
            found.append(_Item(text, Counter(_words(text)), len(found), place / len(texts)))
    return found


def _key(text: str) -> str:
    said = bare(text)
    return " ".join((*_words(said), *_SIGN.findall(said)))


def _words(text: str) -> Iterator[str]:
    """Words in small letters; of scripts without spaces, pairs of characters."""
    for match in _WORD.finditer(text.casefold()):
        word = match.group()
        if SPACELESS.search(word):
            yield from (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        else:
            yield word


def _paired(gone: Sequence[_Item], come: Sequence[_Item]) -> dict[int, int]:
    """For each old statement the new one that took its place, the most alike first."""
    weights = _weights(gone, come)
    sizes = {id(item): _weigh(item.words, weights) for item in [*gone, *come]}
    having: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(come):
        for word in item.words:
            having[word].append(place)
    scored: list[tuple[float, int, int]] = []
    for old, item in enumerate(gone):
        for new in _candidates(item, having):
            other = come[new]
            shared = 2 * _weigh(item.words & other.words, weights) / (sizes[id(item)] + sizes[id(other)])
            if shared >= _LEAST_ALIKE:
                scored.append((shared - _PLACE * abs(item.place - other.place), old, new))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, old, new in sorted(scored, key=lambda each: (-each[0], each[1], each[2])):
        if old not in pairs and new not in taken:
            pairs[old] = new
            taken.add(new)
    return pairs


def _candidates(item: _Item, having: Mapping[str, Sequence[int]]) -> set[int]:
    """The new statements that share its rarest words: all of them, but in a text that says the same thousands of times.

    Of what is in very many the nearest by place are tried: a long table is changed row by row."""
    found: set[int] = set()
    for places in sorted((having[word] for word in item.words if word in having), key=len):
        if len(found) >= _MOST_CANDIDATES:
            break
        at = bisect_left(places, item.index) if len(places) > _MOST_CANDIDATES else _MOST_CANDIDATES // 2
        first = max(0, at - _MOST_CANDIDATES // 2)
        found.update(places[first : first + _MOST_CANDIDATES])
    return found


def _weights(gone: Sequence[_Item], come: Sequence[_Item]) -> dict[str, float]:
    """A word in every statement says little about which of them belong together, and a number is what changes."""
    counts = Counter(word for item in gone for word in item.words) | Counter(
        word for item in come for word in item.words
    )
    size = 1 + max(len(gone), len(come)) ** 0.5
    return {word: (_NUMERAL if word.isdigit() else 1) / (1 + (count - 1) / size) for word, count in counts.items()}


def _weigh(words: Mapping[str, int], weights: Mapping[str, float]) -> float:
    return sum(weights[word] * count for word, count in words.items())


def _parts(new: int, old: int, turned: Mapping[int, int], gone: Sequence[_Item], come: Sequence[_Item]) -> list[int]:
    """The statements beside a new one that say the rest of the old one: a sentence may be split in two."""
    missing = gone[old].words - come[new].words
    return [
        place
        for place in (new - 1, new + 1)
        if 0 <= place < len(come)
        and place not in turned
        and (come[place].words & missing).total() >= _PART * come[place].words.total()
    ]
