"""A short text as words that can be compared: what is a number, what is a name, what only carries grammar."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import regex

from harry_mcp.domain.differences.cutting import ADDRESS, IDENTIFIER, Piece, cut
from harry_mcp.domain.differences.forms import fold, key, phrase_key, stem
from harry_mcp.domain.differences.lexicon import (
    FUNCTION,
    LIGHT,
    NEGATORS,
    PARTICLE_VERBS,
    PARTICLES,
    PREPOSITIONS,
)

_CAMEL = regex.compile(r"\p{Ll}\p{Lu}|\p{Lu}{2,}\p{Ll}")
# Between a verb and its particle: "turn the notifications of my site off".
_PARTICLE_REACH = 5


class Shape(StrEnum):
    """What the letters of a word say about it."""

    PLAIN = "plain"
    NUMBER = "number"
    CAPITAL = "capital"  # a capital letter that no start of a sentence explains
    ACRONYM = "acronym"
    CODE = "code"  # an identifier, a file, a path, an address, an error code
    QUOTED = "quoted"


class Part(StrEnum):
    """What a word does in its sentence."""

    CONTENT = "content"
    LIGHT = "light"
    FUNCTION = "function"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """``key`` is equal for two forms of one word and for near-synonyms; ``place`` counts from 0."""

    surface: str
    folded: str
    key: str
    shape: Shape
    part: Part
    place: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as its words, and those of them that carry the meaning."""

    words: tuple[Word, ...]
    content: tuple[Word, ...]
    folded: tuple[str, ...]
    caseless: bool
    """Typed in lower case from its first letter on, or shouted: then its case says nothing of names."""


@functools.lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """The words of a text, in order. Case, spacing and punctuation between words leave them the same."""
    pieces = list(cut(text))
    small = sum(piece.surface != piece.surface.upper() for piece in pieces)
    capitals = sum(piece.surface[0].isupper() for piece in pieces)
    shouting = small * 3 < len(pieces)
    # A headline with capitals throughout.
    titled = len(pieces) >= 4 and capitals * 4 >= len(pieces) * 3
    words = [_word(place, piece, shouting=shouting, titled=titled) for place, piece in enumerate(pieces)]
    words = [_with_particle(word, words) for word in words]
    content = tuple(word for word in words if word.part is Part.CONTENT)
    caseless = shouting or not any(piece.surface[0].isupper() for piece in pieces)
    return Reading(tuple(words), content, tuple(word.folded for word in words), caseless)


def _word(place: int, piece: Piece, *, shouting: bool, titled: bool) -> Word:
    folded = fold(piece.surface)
    shape = _shape(piece, shouting=shouting, titled=titled)
    return Word(surface=piece.surface, folded=folded, key=key(folded), shape=shape, part=_part(folded), place=place)


def _shape(piece: Piece, *, shouting: bool, titled: bool) -> Shape:
    surface = piece.surface
    if surface[0].isdigit() or (surface[0] in "vV$€£#+-." and surface[1:2].isdigit()):
        return Shape.NUMBER
    if any(character.isdigit() for character in surface) or _CAMEL.search(surface):
        return Shape.CODE
    if IDENTIFIER.search(surface) or ADDRESS.search(surface):
        return Shape.CODE
    if piece.quoted:
        return Shape.QUOTED
    if shouting or len(surface) < 2 or not surface[0].isupper():
        return Shape.PLAIN
    if surface.isupper():
        return Shape.ACRONYM
    return Shape.PLAIN if titled or piece.initial else Shape.CAPITAL


def _part(folded: str) -> Part:
    if folded in NEGATORS or folded.endswith("n't"):
        return Part.NEGATION
    if folded in FUNCTION or folded in PREPOSITIONS or (len(folded) == 1 and folded.isascii() and folded.isalpha()):
        return Part.FUNCTION
    adverb = folded.endswith("ly") and len(folded) > 4 and folded not in _MEANING_ADVERBS
    return Part.LIGHT if adverb or folded in LIGHT or stem(folded) in _light_stems() else Part.CONTENT


def _with_particle(word: Word, words: Sequence[Word]) -> Word:
    """ "turn on" and "turn it on" as the one word that they are."""
    verb = _particle_verbs().get(stem(word.folded))
    if verb is None:
        return word
    for particle in words[word.place + 1 : word.place + _PARTICLE_REACH]:
        if particle.folded in PARTICLES and _belongs(particle, word, words):
            surface = f"{word.surface} {particle.surface}"
            return replace(
                word, surface=surface, key=phrase_key(f"{verb}_{particle.folded}"), part=Part.CONTENT, shape=Shape.PLAIN
            )
    return word


def _belongs(particle: Word, verb: Word, words: Sequence[Word]) -> bool:
    """Not the preposition of what follows: "turn to the page on billing"."""
    following = words[particle.place + 1 : particle.place + 2]
    return particle.place == verb.place + 1 or not following or following[0].part is not Part.CONTENT


_MEANING_ADVERBS = frozenset(
    """daily weekly monthly quarterly yearly hourly manually automatically locally remotely globally publicly privately
    internally externally asynchronously synchronously permanently temporarily apply reply supply assembly family
    anomaly multiply comply rely early fully partially separately annually""".split()  # noqa: SIM905
)


@functools.cache
def _light_stems() -> frozenset[str]:
    # "commons" and "generals" are names, "in general" is not.
    return frozenset(stem(word) for word in LIGHT if not word.endswith("ly")) - {"common", "general"}


@functools.cache
def _particle_verbs() -> dict[str, str]:
    return {stem(verb): verb for verb in PARTICLE_VERBS}
