"""What a knowledge base's own texts say about words: which are names, and which are words at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import regex

_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}_]*")
_OPENS = regex.compile(r"(?:^|[.!?:;\r|*#>•(\[\"“'`-])\s*$")
# One writer's slip makes no name, and a name is written small now and then.
_NAMED_SHARE = 0.9
_NAMED_COUNT = 2
# A word seen once may be a typing error itself.
_KNOWN_COUNT = 2


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words in lower case. ``named`` are written with a capital inside sentences; ``known`` are used at all.

    It is the only way to know a name that a question types in lower case, and a slip of the fingers from a word of its
    own ("contact" and "contract").
    """

    named: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """Counted over texts that people wrote with care: documents, not questions. About 3 MB a second."""
        capital: Counter[str] = Counter()
        small: Counter[str] = Counter()
        seen: Counter[str] = Counter()
        for text in texts:
            for line in text.splitlines():
                _count(line, capital, small, seen)
        named = (
            word
            for word, count in capital.items()
            if count >= _NAMED_COUNT and count >= _NAMED_SHARE * (count + small[word])
        )
        return cls(frozenset(named), frozenset(word for word, count in seen.items() if count >= _KNOWN_COUNT))


def _count(line: str, capital: Counter[str], small: Counter[str], seen: Counter[str]) -> None:
    words = list(_WORD.finditer(line))
    # Headings and menus capitalise everything.
    titled = sum(match.group()[0].isupper() for match in words) * 2 > len(words)
    for match in words:
        word = match.group()
        folded = word.casefold()
        seen[folded] += 1
        if not word[0].isupper():
            small[folded] += 1
        elif not titled and not _OPENS.search(line, max(0, match.start() - 4), match.start()):
            capital[folded] += 1
