"""Which old documents an unanswered question is about, by its words alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from harry_mcp.domain.bm25 import idf

# A word that a text has so often is a keyword of it; one said once or twice may be said in passing.
_OFTEN = 4
# From this prominence on, a word counts as one that question and document share.
_SHARED = 0.5
# Beside the best document, only those that are nearly as good.
_NEARLY = 0.9

Word = tuple[str, ...]
"""A word of a question in its forms, one for each language of the knowledge base."""


@dataclass(frozen=True, slots=True)
class OldText:
    """The words of an old document: those of title and headings, and how often each of its passages' is there."""

    id: str
    named: frozenset[str]
    times: Mapping[str, int]

    def prominence(self, word: Word) -> float:
        """How much a word is a keyword of the document, 0 to 1."""
        if any(form in self.named for form in word):
            return 1.0
        return min(1.0, max((self.times.get(form, 0) for form in word), default=0) / _OFTEN)


@dataclass(frozen=True, slots=True)
class Overlap:
    """An old document that covers a question by this share of its words, weighed by their rarity."""

    document_id: str
    share: float
    words: int


def weights(words: Collection[Word], found_in: Mapping[str, int], documents: int) -> dict[Word, float]:
    """How much each word of a question says: its inverse document frequency; none if every fourth document has it."""
    common = max(10, documents / 4)
    counted = {word: max((found_in.get(form, 0) for form in word), default=0) for word in words}
    return {word: 0.0 if count > common else idf(max(1, count), documents) for word, count in counted.items()}


def overlaps(
    weighed: Mapping[Word, float], texts: Sequence[OldText], *, least: float, words: int, most: int
) -> list[Overlap]:
    """The old documents that a question is about, best first: those whose keywords cover a ``least`` share of it with
    at least so many ``words``. A word that no document has weighs as much as the rarest, so a question about something
    else covers little of any."""
    whole = sum(weighed.values())
    if not whole:
        return []
    found: list[Overlap] = []
    for text in texts:
        prominent = {word: text.prominence(word) for word, weight in weighed.items() if weight}
        shared = sum(value >= _SHARED for value in prominent.values())
        share = sum(weighed[word] * value for word, value in prominent.items()) / whole
        if share >= least and shared >= words:
            found.append(Overlap(text.id, share, shared))
    found.sort(key=lambda each: (-each.share, each.document_id))
    return [each for each in found[:most] if each.share >= _NEARLY * found[0].share]
