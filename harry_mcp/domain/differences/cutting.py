"""A text cut into words as they stand, with what stands around each."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import regex

_CHUNK = regex.compile(r"[^\s,;!?()\[\]{}\"“”„«»<>|=*`…—–¿¡、。，？！：；（）「」]+")
# Scripts without spaces between words are compared character by character.
SPACELESS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_BY_CHARACTER = regex.compile(rf"{SPACELESS.pattern}\p{{M}}*|[^\s{SPACELESS.pattern[1:-1]}]+")
_THOUSANDS = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_QUOTED = regex.compile(
    r"`[^`]{1,60}`|\"[^\"]{1,60}\"|“[^”]{1,60}”|\*\*[^*]{1,60}\*\*|(?<!\w)'[^']{1,60}'(?!\w)|«[^»]{1,60}»"
)
ADDRESS = regex.compile(r"://|@\w|^~?[/\\]|\w[/\\]\w+[/\\]\w|^\w:\\")
IDENTIFIER = regex.compile(r"\p{L}[.]\p{L}|_|::|\w#|\w\+\+|[\p{L}\p{N}]:[\p{L}\p{N}]")
_GREETING = regex.compile(r"^\s*good (?:morning|afternoon|evening|day)\b", regex.IGNORECASE)
# "30-day", "64-bit"
_MEASURED = regex.compile(r"^(\d+(?:\.\d+)*)-(\p{L}{2,})$")
_NEGATIVE = regex.compile(r"^-\d")
_SENTENCE_END = regex.compile(r"[.!?:\n\r|¿¡]\s*[\"'“*`(]*$")


class Piece(NamedTuple):
    """A word as it stands, whether it begins a sentence, and whether it stands in quotes, bold or code."""

    surface: str
    initial: bool
    quoted: bool


def cut(text: str) -> Iterator[Piece]:
    """The words, identifiers, paths and numbers of a text. Punctuation between them is dropped."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    text = _THOUSANDS.sub("", _GREETING.sub("", text))
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    first = True
    for chunk in _CHUNK.finditer(text):
        start = chunk.start()
        initial = first or bool(_SENTENCE_END.search(text, max(0, start - 6), start))
        inside = any(begin <= start < end for begin, end in quoted)
        for piece in _split(chunk.group()):
            yield Piece(piece, initial, inside)
            initial = first = False


def _split(chunk: str) -> Iterator[str]:
    whole = _trimmed(chunk)
    if not any(character.isalnum() for character in whole):
        return
    if ADDRESS.search(whole):
        yield whole
    elif SPACELESS.search(whole):
        yield from _BY_CHARACTER.findall(whole)
    else:
        for part in whole.split("/"):
            yield from _unhyphened(part.strip(".:'"))


def _trimmed(chunk: str) -> str:
    if chunk.startswith(("/", "~/", ".")) or _NEGATIVE.match(chunk):
        return chunk.rstrip(".:'-")
    return chunk.strip(".:'-/\\")


def _unhyphened(part: str) -> Iterator[str]:
    measured = _MEASURED.match(part)
    if measured:
        yield from measured.groups()
        return
    whole = any(character.isdigit() for character in part) or IDENTIFIER.search(part)
    for piece in [part] if whole else part.split("-"):
        if any(character.isalnum() for character in piece):
            yield piece.strip("'.")
