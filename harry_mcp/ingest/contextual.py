"""The second face of a chunk: what is embedded and keyword indexed, and never shown."""

from __future__ import annotations

import re

from harry_mcp.domain.documents import Chunk, ContextualChunk, SourceDocument
from harry_mcp.ingest.inline import plain_inline

# The embedding model reads 256 word pieces, some 1,000 characters: a long preamble would push the passage out.
_LONGEST_TITLE = 160
_LONGEST_PATH = 200
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")


def contextualise(document: SourceDocument, chunk: Chunk, context: str = "") -> ContextualChunk:
    """The template context: the title, the heading path, then the chunk's text unchanged.

    What the chunk's own first headings say, and what repeats the title, is not said again. A ``context`` that a model
    wrote is one more line between the two.
    """
    said = {_folded(heading) for heading in _opening_headings(chunk.text)}
    title = "" if _folded(document.title) in said else cut_at_word(document.title, _LONGEST_TITLE)
    path = [step for step in chunk.heading_path if _folded(step) not in said | {_folded(document.title)}]
    preamble = [line for line in (title, _path_line(path), context) if line]
    text = "\n".join(preamble) + "\n\n" + chunk.text if preamble else chunk.text
    return ContextualChunk(chunk=chunk, contextual_text=text)


def _path_line(path: list[str]) -> str:
    """The headings joined; the outermost go first when there is no room, since the innermost say most."""
    kept = list(path)
    while len(kept) > 1 and len(" > ".join(kept)) > _LONGEST_PATH:
        kept.pop(0)
    return cut_at_word(" > ".join(kept), _LONGEST_PATH)


def cut_at_word(line: str, longest: int) -> str:
    """One line of at most ``longest`` characters, cut between words where there is a space to cut at."""
    line = " ".join(line.split())
    if len(line) <= longest:
        return line
    cut = line.rfind(" ", longest // 2, longest)
    return line[: cut if cut > 0 else longest - 1].rstrip() + "…"


def _opening_headings(text: str) -> list[str]:
    found: list[str] = []
    lines = [line for line in text[:2000].split("\n", 40) if line.strip()]
    position = 0
    while position < len(lines):
        if match := _ATX.match(lines[position]):
            found.append(plain_inline(match.group(1) or ""))
        elif position + 1 < len(lines) and _UNDERLINE.match(lines[position + 1]):
            found.append(plain_inline(lines[position]))
            position += 1
        else:
            break
        position += 1
    return found


def _folded(words: str) -> str:
    return re.sub(r"\W+", " ", words).strip().casefold() or words.strip()
