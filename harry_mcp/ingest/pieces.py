"""What chunks are built from: sections of blocks, pieces of a section, and the joining of tiny ones.

Shared by both ways to cut: by headings and size (``chunking``) and by meaning (``semantic``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from harry_mcp.domain.documents import Chunk
from harry_mcp.ingest.blocks import Block, Kind
from harry_mcp.ingest.cutting import cut_block


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes in characters.

    ``target``: the embedding model reads 256 word pieces, about 1,000 characters of English; what is beyond is found
    by keywords only. ``minimum``: a section below it joins a neighbour; too high and answers drown in other topics.
    ``maximum``: code and tables up to it stay whole, and no chunk is longer.
    """

    target: int = 900
    minimum: int = 120
    maximum: int = 1400

    @classmethod
    def of(cls, target: int, minimum: int, maximum: int) -> Sizes:
        """Sizes that fit one another, whatever was asked for."""
        target = max(target, 16)
        return cls(target=target, minimum=min(minimum, target), maximum=max(maximum, target))


@dataclass(slots=True)
class Section:
    """What stands under one heading, the heading first."""

    path: tuple[str, ...]
    blocks: list[Block] = field(default_factory=list[Block])

    @property
    def only_headings(self) -> bool:
        return all(block.kind is Kind.HEADING for block in self.blocks)


@dataclass(slots=True)
class Piece:
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


def sections(blocks: list[Block], title: str) -> Iterator[Section]:
    """One section for each heading; a heading with nothing under it but a deeper one opens that one's section."""
    skipped = _title_heading(blocks, title)
    open_headings: list[Block] = []
    section = Section(())
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
                section = Section(path)
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


def fitting(text: str, block: Block, sizes: Sizes) -> list[Block]:
    """The block itself when it fits, else its items, else parts of it. Nested as deep as the parser goes: 20."""
    if block.inside:
        if block.size <= sizes.target:
            return [block]
        return [part for inner in block.inside for part in fitting(text, inner, sizes)]
    return [block] if block.size <= sizes.maximum else cut_block(text, block, sizes.target, sizes.maximum)


def joined(pieces: list[Piece], sizes: Sizes) -> list[Piece]:
    """The pieces with those too small to be found alone joined to a neighbour they belong with."""
    kept: list[Piece] = []
    for piece in pieces:
        before = kept[-1] if kept else None
        path = _shared_path(before, piece, sizes) if before else None
        if before is None or path is None:
            kept.append(piece)
            continue
        before.headed = before.headed or before.path == path
        before.path = path
        for block in piece.blocks:
            before.add(block)
    return kept


def _shared_path(before: Piece, piece: Piece, sizes: Sizes) -> tuple[str, ...] | None:
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


def chunk_of(text: str, ordinal: int, piece: Piece) -> Chunk:
    """The piece as a chunk; a part of a cut block repeats its fence or its header row."""
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
