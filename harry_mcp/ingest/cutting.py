"""Where a block that is too long for one chunk is cut: at the best place near where it should be."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from harry_mcp.ingest.blocks import Block, Kind

# Places to cut, best first; the cut is at the end of a match.
_SENTENCE = re.compile(
    # A full stop, unless it ends an initial or an abbreviation or the sentence goes on in small letters
    r"(?<!\b[A-Z])(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bDr)(?<!\bMr)(?<!\bNo)[.!?…][\"'”’»)\]*_`]*\s+(?![a-z])"
    # the stops of scripts that put no space after them
    r"|[。！？｡．।॥؟۔။។።]+[」』”’）】〉》)\]]*\s*"
)
_CLAUSE = re.compile(r"[,;:](?=\s)\s*|[、，；：]\s*")
_SPACE = re.compile(r"\s+")
_LINE = re.compile(r"\r\n?|\n")
PROSE_BREAKS = (re.compile(r"\n\s*\n"), _SENTENCE, re.compile(r"\n[ \t]*(?=[-*+|>]|\d+[.)])|\n(?=\S)"), _CLAUSE, _SPACE)
CODE_BREAKS = (
    re.compile(r"\n[ \t]*\n(?=[^\s})\]])"),  # between two definitions
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"\n(?=[^\s})\]])"),
    _LINE,
    _SPACE,
)
ROW_BREAKS = (_LINE, _SPACE)
_NEAREST, _FARTHEST = 0.5, 1.3  # a cut may miss its goal by this much before a worse kind of place is taken
_MOST_REPEATED = 0.33  # of a chunk may be a repeated header; a longer one is not repeated


def cut_block(text: str, block: Block, aim: int, maximum: int) -> list[Block]:
    """Parts of at most ``maximum`` characters each, about ``aim`` where the text lets it."""
    if block.kind is Kind.CODE:
        return _cut_code(text, block, aim, maximum)
    if block.kind is Kind.TABLE:
        return _cut_table(text, block, aim, maximum)
    spans = cut_span(text, block.start, block.end, aim, maximum, PROSE_BREAKS)
    return [Block(kind=Kind.PROSE, start=start, end=end, cut_from=block.start) for start, end in spans]


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of a run of prose: spans in order that hold every non-blank character of it."""
    ends = sorted({match.end() for pattern in PROSE_BREAKS[:2] for match in pattern.finditer(text, start, end)} | {end})
    spans: list[tuple[int, int]] = []
    for stop in ends:
        body = text[start:stop].rstrip()
        if body.strip():
            spans.append((start, start + len(body)))
        start = stop
    return spans


def _cut_code(text: str, block: Block, aim: int, maximum: int) -> list[Block]:
    head = _LINE.search(text, block.start, block.end)
    if not block.fence or head is None:
        return _parts(block, cut_span(text, block.start, block.end, aim, maximum, CODE_BREAKS))
    last = max(text.rfind("\n", head.end(), block.end), text.rfind("\r", head.end(), block.end)) + 1
    closed = last > 0 and text[last : block.end].strip(" \t>").startswith(block.fence)
    body_end = last if closed else block.end
    before, after = f"{block.fence}{block.info}\n", f"\n{block.fence}"
    # The fence as the text has it may be longer than the one repeated (a quote's mark, a list's indentation).
    extra = max(len(before), head.end() - block.start) + max(len(after), block.end - body_end)
    if extra > _MOST_REPEATED * maximum:
        return _parts(block, cut_span(text, block.start, block.end, aim, maximum, CODE_BREAKS))
    spans = cut_span(text, head.end(), body_end, max(1, aim - extra), maximum - extra, CODE_BREAKS)
    return _parts(block, spans, before, after) or [block]


def _cut_table(text: str, block: Block, aim: int, maximum: int) -> list[Block]:
    lines = _LINE.finditer(text, block.start, block.end)
    ends = [match.end() for match, _ in zip(lines, range(2), strict=False)]
    head = ends[1] - block.start if len(ends) == 2 else 0
    if not head or head > _MOST_REPEATED * maximum:
        return _parts(block, cut_span(text, block.start, block.end, aim, maximum, ROW_BREAKS))
    before = text[block.start : ends[1]]
    spans = cut_span(text, ends[1], block.end, max(1, aim - head), maximum - head, ROW_BREAKS)
    return _parts(block, spans, before) or [block]


def _parts(block: Block, spans: Sequence[tuple[int, int]], before: str = "", after: str = "") -> list[Block]:
    """The first part starts with the block's own head and the last ends with its own end; others repeat them."""
    parts = [
        Block(kind=block.kind, start=start, end=end, before=before, after=after, cut_from=block.start)
        for start, end in spans
    ]
    if parts and before:
        parts[0] = replace(parts[0], start=block.start, before="")
        parts[-1] = replace(parts[-1], end=block.end, after="")
    return parts


def cut_span(
    text: str, start: int, end: int, aim: int, maximum: int, breaks: Sequence[re.Pattern[str]]
) -> list[tuple[int, int]]:
    """Spans in order that hold every non-blank character of ``text[start:end]``, none longer than ``maximum``."""
    spans: list[tuple[int, int]] = []
    aim = max(1, min(aim, maximum))
    while start < end:
        left = end - start
        goal = left / math.ceil(left / aim)
        cut = end if left <= aim else _best_cut(text, start, end, goal, maximum, breaks)
        # Indentation is part of a line of code: only empty lines go.
        stop = start + len(text[start:cut].rstrip())
        if stop > start:
            spans.append((start, stop))
        start = cut
    return spans


def _best_cut(text: str, start: int, end: int, goal: float, maximum: int, breaks: Sequence[re.Pattern[str]]) -> int:
    lowest = start + max(1, int(goal * _NEAREST))
    highest = min(end, start + min(maximum, int(goal * _FARTHEST) + 1))
    for pattern in breaks:
        # Looked for a little before, since a match must end inside.
        ends = [match.end() for match in pattern.finditer(text, start, highest) if match.end() >= lowest]
        if ends:
            return min(ends, key=lambda place: abs(place - start - goal))
    return _grapheme_end(text, start, min(end, start + max(1, min(maximum, math.ceil(goal)))))


def _grapheme_end(text: str, start: int, limit: int) -> int:
    """The last end of a whole grapheme cluster up to ``limit``; ``limit`` itself inside one that is longer."""
    import regex

    last = start
    for match in regex.finditer(r"\X", text, pos=start, endpos=min(len(text), limit + 1)):
        if match.end() > limit:
            break
        last = match.end()
    return last if last > start else limit
