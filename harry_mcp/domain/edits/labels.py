"""Labels: what stands in bold, in quotes or in code. They name buttons, menus, options, fields and values."""

from __future__ import annotations

from dataclasses import dataclass

import regex

from harry_mcp.domain.differences.lexicon import NEGATORS
from harry_mcp.domain.differences.matching import mistyped

_LABEL = regex.compile(r"[\"“']?\*\*(.+?)\*\*[\"”']?|`([^`]+)`|\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)")
# Words from which on a label is a list, or an expression.
_LIST = 4
# Words of a label at most.
_LONGEST = 8
_ENDS = regex.compile(r"\w{2}[.!?]+[*\"'“”]+$")


@dataclass(frozen=True, slots=True)
class Labels:
    """``lost``: one is not there any more, not even without its marks. ``exchanged``: another took its place. ``gone``
    holds the words of those that are lost."""

    lost: bool
    exchanged: bool
    gone: frozenset[str] = frozenset()


def labels_of(before: str, after: str) -> Labels:
    """Compare the labels of two statements, whatever marks them."""
    old, new = _labels(before), _labels(after)
    gone, come = _others(old, new), _others(new, old)
    lost = gone if come else {label for label in gone if not _spoken_of(label, after)}
    return Labels(bool(lost), bool(gone and come), frozenset(word for label in lost for word in label.split()))


def without_denying_labels(text: str) -> str:
    """A "not" inside of a label, as of a filter that is called "is not", denies nothing."""
    return _LABEL.sub(lambda match: " " if _denying(match) and not _sentence(match) else match[0], text)


def _denying(match: regex.Match[str]) -> bool:
    words = _words(match)
    return len(words) > 1 and ("t" in words or not NEGATORS.isdisjoint(words))


def _words(match: regex.Match[str]) -> list[str]:
    return _plain(next(part for part in match.groups() if part)).split()


def _labels(text: str) -> set[str]:
    labels = {" ".join(_words(match)) for match in _LABEL.finditer(text) if not _sentence(match)}
    # A "not" in bold is emphasis.
    return labels - NEGATORS - {""}


def _sentence(match: regex.Match[str]) -> bool:
    """A whole sentence in bold or in quotes is emphasised, or somebody's words."""
    return len(_words(match)) > _LONGEST or (match[2] is None and bool(_ENDS.search(match[0])))


def _plain(text: str) -> str:
    return regex.sub(r"[^\p{L}\p{N}]+", " ", text.casefold()).strip()


def _others(labels: set[str], theirs: set[str]) -> set[str]:
    return {
        label for label in labels - theirs if not any(_slip(label, other) or _grown(label, other) for other in theirs)
    }


def _grown(label: str, other: str) -> bool:
    """A list of values that got some more."""
    words = set(label.split())
    return len(words) >= _LIST and words <= set(other.split())


def _slip(label: str, other: str) -> bool:
    if any(character.isdigit() for character in label + other):
        return False
    return mistyped(label, other, sure=True)


def _spoken_of(label: str, text: str) -> bool:
    return f" {label} " in f" {_plain(text)} "
