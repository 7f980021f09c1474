"""Heading-aware chunks of a Markdown text.

Blocks under one heading are packed whole, in pieces of about equal size up to the target. A section too small to be
found alone joins a neighbour under the same parent, and its heading stays readable in the joined text.
"""

from __future__ import annotations

import math

from harry_mcp.domain.documents import Chunk
from harry_mcp.ingest.blocks import Block, Kind, parse_blocks
from harry_mcp.ingest.pieces import Piece, Section, Sizes, chunk_of, fitting, joined, sections

_LEAD_IN = 200  # a paragraph up to this long that ends in a colon belongs to what follows


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
    sizes = Sizes.of(target, minimum, maximum)
    pieces = [piece for section in sections(parse_blocks(text), title) for piece in _packed(text, section, sizes)]
    return [chunk_of(text, ordinal, piece) for ordinal, piece in enumerate(joined(pieces, sizes))]


def _packed(text: str, section: Section, sizes: Sizes) -> list[Piece]:
    blocks = [part for block in section.blocks for part in fitting(text, block, sizes)]
    total = blocks[-1].end - blocks[0].start
    aim = total / max(1, math.ceil(total / sizes.target))
    pieces: list[Piece] = []
    for block in blocks:
        if pieces and _fits(pieces[-1], block, aim, sizes):
            pieces[-1].add(block)
        else:
            moved = _lead_in(text, pieces[-1], block, sizes) if pieces else []
            piece = Piece(section.path, moved or [block], headed=not pieces)
            piece.repeated = sum(each.repeated for each in piece.blocks)
            if moved:
                piece.add(block)
            pieces.append(piece)
    if len(pieces) > 1 and pieces[-1].size < sizes.minimum:
        _join_last(pieces, sizes)
    return pieces


def _fits(piece: Piece, block: Block, aim: float, sizes: Sizes) -> bool:
    """Whether the piece comes nearer to its aim with the block than without it."""
    size, size_with = piece.size, piece.size_with(block)
    if size_with > sizes.maximum:
        return False
    if size_with <= aim or size < sizes.minimum or piece.blocks[-1].kind is Kind.HEADING:
        return True
    return size_with <= sizes.target and size_with - aim <= aim - size


def _lead_in(text: str, piece: Piece, block: Block, sizes: Sizes) -> list[Block]:
    """The sentence that announces ``block`` ("Run this:"), taken from the end of the piece before."""
    last = piece.blocks[-1]
    announces = last.kind is Kind.PROSE and last.size <= _LEAD_IN and text[last.end - 1] in ":："
    if announces and len(piece.blocks) > 1 and block.end - last.start + block.repeated <= sizes.maximum:
        piece.blocks.pop()
        return [last]
    return []


def _join_last(pieces: list[Piece], sizes: Sizes) -> None:
    last, before = pieces[-1], pieces[-2]
    if last.blocks[-1].end - before.blocks[0].start + before.repeated + last.repeated <= sizes.maximum:
        pieces.pop()
        for block in last.blocks:
            before.add(block)
