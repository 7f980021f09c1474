"""Heading-aware chunks of a Markdown text.

Blocks under one heading are packed whole, in pieces of about equal size up to the target. A section too small to be
found alone joins a neighbour under the same parent, and its heading stays readable in the joined text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from harry_mcp.domain.documents import Chunk
from harry_mcp.ingest.blocks import Block, Kind, parse_blocks
from harry_mcp.ingest.cutting import cut_block

_LEAD_IN = 200  # a paragraph up to this long that ends in a colon belongs to what follows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    """Sizes in characters.

    ``target``: the embedding model reads 256 word pieces, about 1,000 characters of English; what is beyond is found
    by keywords only. ``minimum``: a section below it joins a neighbour; too high and answers drown in other topics.
    ``maximum``: code and tables up to it stay whole, and no chunk is longer.
    """

    target: int = 900
    minimum: int = 120
    maximum: int = 1400


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list[Block])

    @property
    def only_headings(self) -> bool:
        return all(block.kind is Kind.HEADING for block in self.blocks)


@dataclass(slots=True)
class _Piece:
    """Blocks that will be one chunk. ``headed``: its text opens with the heading that its path ends in."""

    path: tuple[str, ...]
    blocks: list[Block]
    headed: bool
    repeated: int = 0

    @property
    def size(self) -> int:
        return self.blocks[-1].end - self.blocks[0].start + self.repeated

    def size_with(self, block: Block) -> int:
        return block.end - self.blocks[0].start + self.repeated + block.repeated

    def add(self, block: Block) -> None:
        self.blocks.append(block)
        self.repeated += block.repeated


def chunk_markdown(
    text: str, *, title: str = "", target: int = 900, minimum: int = 120, maximum: int = 1400
) -> list[Chunk]:
    """The chunks of ``text`` in order.

    ``chunk.text`` is ``text[chunk.start:chunk.end]``; a part of a cut table or code block also repeats the header
    row or the fence, which is the only thing ever added. Spans do not overlap, and every non-blank character is in
    one. No chunk is longer than ``maximum`` (or ``target``, should that be more), and none is blank.

    ``title`` is the document's: a text's only h1 is left out of the heading paths when it says the same (with no
    title given, when it opens the text). It stays in the text.
    """
    target = max(target, 16)
    sizes = _Sizes(target=target, minimum=min(minimum, target), maximum=max(maximum, target))
    pieces = [piece for section in _sections(parse_blocks(text), title) for piece in _packed(text, section, sizes)]
    return [_chunk(text, ordinal, piece) for ordinal, piece in enumerate(_joined(pieces, sizes))]


def _sections(blocks: list[Block], title: str) -> Iterator[_Section]:
    """One section for each heading; a heading with nothing under it but a deeper one opens that one's section."""
    skipped = _title_heading(blocks, title)
    open_headings: list[Block] = []
    section = _Section(())
    for block in blocks:
        if block.kind is Kind.HEADING and block.level:
            deeper = bool(section.blocks) and section.only_headings and block.level > section.blocks[-1].level
            while open_headings and open_headings[-1].level >= block.level:
                open_headings.pop()
            open_headings.append(block)
            path = tuple(heading.title for heading in open_headings if heading.title and heading is not skipped)
            if deeper:
                section.path = path
            else:
                if section.blocks:
                    yield section
                section = _Section(path)
        section.blocks.append(block)
    if section.blocks:
        yield section


def _title_heading(blocks: list[Block], title: str) -> Block | None:
    tops = [block for block in blocks if block.kind is Kind.HEADING and block.level == 1]
    if len(tops) != 1:
        return None
    same = _folded(tops[0].title) == _folded(title) if title else tops[0] is blocks[0]
    return tops[0] if same else None


def _folded(words: str) -> str:
    return re.sub(r"\W+", " ", words).strip().casefold()


def _packed(text: str, section: _Section, sizes: _Sizes) -> list[_Piece]:
    blocks = [part for block in section.blocks for part in _fitting(text, block, sizes)]
    total = blocks[-1].end - blocks[0].start
    aim = total / max(1, math.ceil(total / sizes.target))
    pieces: list[_Piece] = []
    for block in blocks:
        if pieces and _fits(pieces[-1], block, aim, sizes):
            pieces[-1].add(block)
        else:
            moved = _lead_in(text, pieces[-1], block, sizes) if pieces else []
            piece = _Piece(section.path, moved or [block], headed=not pieces)
            piece.repeated = sum(each.repeated for each in piece.blocks)
            if moved:
                piece.add(block)
            pieces.append(piece)
    if len(pieces) > 1 and pieces[-1].size < sizes.minimum:
        _join_last(pieces, sizes)
    return pieces


def _fits(piece: _Piece, block: Block, aim: float, sizes: _Sizes) -> bool:
    """Whether the piece comes nearer to its aim with the block than without it."""
    size, size_with = piece.size, piece.size_with(block)
    if size_with > sizes.maximum:
        return False
    if size_with <= aim or size < sizes.minimum or piece.blocks[-1].kind is Kind.HEADING:
        return True
    return size_with <= sizes.target and size_with - aim <= aim - size


def _lead_in(text: str, piece: _Piece, block: Block, sizes: _Sizes) -> list[Block]:
    """The sentence that announces ``block`` ("Run this:"), taken from the end of the piece before."""
    last = piece.blocks[-1]
    announces = last.kind is Kind.PROSE and last.size <= _LEAD_IN and text[last.end - 1] in ":："
    if announces and len(piece.blocks) > 1 and block.end - last.start + block.repeated <= sizes.maximum:
        piece.blocks.pop()
        return [last]
    return []


def _join_last(pieces: list[_Piece], sizes: _Sizes) -> None:
    last, before = pieces[-1], pieces[-2]
    if last.blocks[-1].end - before.blocks[0].start + before.repeated + last.repeated <= sizes.maximum:
        pieces.pop()
        for block in last.blocks:
            before.add(block)


def _fitting(text: str, block: Block, sizes: _Sizes) -> list[Block]:
    """The block itself when it fits, else its items, else parts of it. Nested as deep as the parser goes: 20."""
    if block.inside:
        if block.size <= sizes.target:
            return [block]
        return [part for inner in block.inside for part in _fitting(text, inner, sizes)]
    return [block] if block.size <= sizes.maximum else cut_block(text, block, sizes.target, sizes.maximum)


def _joined(pieces: list[_Piece], sizes: _Sizes) -> list[_Piece]:
    joined: list[_Piece] = []
    for piece in pieces:
        before = joined[-1] if joined else None
        path = _shared_path(before, piece, sizes) if before else None
        if before is None or path is None:
            joined.append(piece)
            continue
        before.headed = before.headed or before.path == path
        before.path = path
        for block in piece.blocks:
            before.add(block)
    return joined


def _shared_path(before: _Piece, piece: _Piece, sizes: _Sizes) -> tuple[str, ...] | None:
    """The path of the two as one chunk, None when they should stay two.

    They may join when one of them is tiny, they are parent and child (up to the target) or siblings (up to half of
    it: a passage about something else drowns the tiny one), and no heading is lost: where the path gets shorter, the
    heading must be in the text.
    """
    if min(before.size, piece.size) >= sizes.minimum:
        return None
    length = 0
    for one, other in zip(before.path, piece.path, strict=False):
        if one != other:
            break
        length += 1
    parent_and_child = length == min(len(before.path), len(piece.path))
    size = piece.blocks[-1].end - before.blocks[0].start + before.repeated + piece.repeated
    too_large = size > (sizes.target if parent_and_child else sizes.target // 2)
    if too_large or length < max(len(before.path), len(piece.path)) - 1:
        return None
    readable = (before.headed or length == len(before.path)) and (piece.headed or length == len(piece.path))
    return before.path[:length] if readable else None


def _chunk(text: str, ordinal: int, piece: _Piece) -> Chunk:
    blocks = piece.blocks
    parts: list[str] = []
    for position, block in enumerate(blocks):
        whole_before = position > 0 and blocks[position - 1].cut_from == block.cut_from >= 0
        whole_after = position + 1 < len(blocks) and blocks[position + 1].cut_from == block.cut_from >= 0
        gap = text[blocks[position - 1].end : block.start] if position else ""
        parts += [gap, "" if whole_before else block.before, text[block.start : block.end]]
        parts.append("" if whole_after else block.after)
    return Chunk(
        ordinal=ordinal,
        text="".join(parts),
        heading_path=piece.path,
        start=blocks[0].start,
        end=blocks[-1].end,
    )
