"""Passages cut into the statements that they make: sentences, list items and rows of tables, without their markup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import regex

# A sentence end; abbreviations, initials and what goes on in small letters are none. Scripts without spaces need none.
_END = regex.compile(
    r"(?<!\b(?i:e\.g|i\.e|etc|vs|approx|no|fig|st|dr|mr|mrs|inc|ltd|cf|\p{L}\.\p{L}|\p{Lu}))"
    r"[.!?…][\"'”’»)\]*_`]*\s+(?=[^\p{Ll}\s])|[。！？｡।॥؟۔]+[」』”’）】》)\]]*\s*"
)
_FENCE = regex.compile(r"^\s*(?:```|~~~)")
_OPENS = regex.compile(r"^\s*(?:[-*+•]|\d+[.)]|\||#{1,6}\s|>)")
_RULE = regex.compile(r"^[\s|:=*_-]+$")
_MARKER = regex.compile(r"^\s*(?:>\s*)*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_HEADING = regex.compile(r"^\s*#{1,6}\s")
_IMAGE = regex.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = regex.compile(r"\[([^\]]*)\]\([^)]*\)|\[([^\]]*)\]\[[^\]]*\]|<(https?://[^>\s]+)>|<[^>\s][^>]{0,200}>")
_EMPHASIS = regex.compile(r"\*\*|__|`+|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A statement as it stands in its text, and without markup."""

    text: str
    plain: str


def sentences(text: str) -> list[Sentence]:
    """The statements of a Markdown text in order. Code, headings and rules make none."""
    return [
        Sentence(part, bare)
        for block in _blocks(text)
        for part in _split(block)
        if (bare := plain(part)) and any(character.isalpha() for character in bare)
    ]


def plain(text: str) -> str:
    """One line without Markdown: the words of links, no images, no emphasis; the cells of a row with commas."""
    text = _LINK.sub(lambda link: link[1] or link[2] or link[3] or " ", _IMAGE.sub(" ", text))
    if text.lstrip().startswith("|"):
        text = ", ".join(cell.strip() for cell in text.strip().strip("|").split("|") if cell.strip())
    return " ".join(_EMPHASIS.sub("", text).split())


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, list items and rows, each with its soft-wrapped lines."""
    held: list[str] = []
    in_code = False
    for line in text.splitlines():
        fence = bool(_FENCE.match(line))
        if fence or in_code or not line.strip() or _HEADING.match(line) or _OPENS.match(line) or _RULE.match(line):
            if held:
                yield "\n".join(held)
            held = []
        in_code ^= fence
        if not (fence or in_code or not line.strip() or _HEADING.match(line) or _RULE.match(line)):
            held.append(line)
    if held:
        yield "\n".join(held)


def _split(block: str) -> Iterator[str]:
    start = _MARKER.match(block)
    place = start.end() if start else 0
    if block.lstrip().startswith("|"):
        yield block.strip()
        return
    for end in _END.finditer(block, place):
        yield block[place : end.end()].strip()
        place = end.end()
    if block[place:].strip():
        yield block[place:].strip()
