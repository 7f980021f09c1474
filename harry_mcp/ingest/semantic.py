"""Chunks cut by meaning: where the text changes its subject, not only where it has a heading.

After Greg Kamradt's "5 levels of text splitting" (2023): sentences are embedded with their neighbours, and where the
cosine distance between two windows that meet is above a percentile of the document's distances, the text is cut. The
windows do not overlap, as in Hearst's TextTiling (1997): overlapping ones blur the place by a sentence. A heading is
always a cut, code and tables that fit are never cut, and what is still too long is cut where the distance is largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.documents import Chunk
from harry_mcp.ingest.blocks import Block, Kind, parse_blocks
from harry_mcp.ingest.cutting import cut_block, sentence_spans
from harry_mcp.ingest.pieces import Piece, Section, Sizes, chunk_of, fitting, joined, sections

# A list or quote up to this many characters is one unit, for its lines mean little alone.
_WHOLE = 240
_NEVER = -1.0  # the distance across a place where nothing may be cut


@dataclass(frozen=True, slots=True)
class _Run:
    """The units of one section, and for each place between two the numbers of the windows before and after it.

    No places are given for a section that is too short to cut.
    """

    section: Section
    units: list[Block]
    places: list[tuple[int, int]]


class SemanticPlan:
    """A text with the windows that decide where it is cut. Embed ``windows`` in order, then ask for the ``chunks``."""

    def __init__(
        self,
        text: str,
        *,
        title: str = "",
        target: int = 900,
        minimum: int = 120,
        maximum: int = 1400,
        neighbours: int = 1,
    ) -> None:
        self._text = text
        self._sizes = Sizes.of(target, minimum, maximum)
        self._runs: list[_Run] = []
        self.windows: list[str] = []
        for section in sections(parse_blocks(text), title):
            units = [unit for block in section.blocks for unit in _units(text, block, self._sizes)]
            long = len(units) > 1 and units[-1].end - units[0].start >= 2 * self._sizes.minimum
            places = self._windows(units, neighbours + 1) if long else []
            self._runs.append(_Run(section, units, places))

    def _windows(self, units: list[Block], width: int) -> list[tuple[int, int]]:
        numbers: dict[tuple[int, int], int] = {}

        def number(first: int, stop: int) -> int:
            span = (max(0, first), min(len(units), stop))
            if span not in numbers:
                numbers[span] = len(self.windows)
                self.windows.append(self._text[units[span[0]].start : units[span[1] - 1].end])
            return numbers[span]

        return [(number(i - width, i), number(i, i + width)) for i in range(1, len(units))]

    def chunks(self, vectors: Sequence[npt.NDArray[np.float32]], percentile: float) -> list[Chunk]:
        """The chunks in order, under the same rules as those of ``chunk_markdown``.

        ``vectors`` are those of the windows, of unit length; ``percentile`` in (0, 100].
        """
        distances = [self._distances(run, vectors) for run in self._runs]
        told = np.concatenate([each[each > _NEVER] for each in distances]) if distances else np.empty(0)
        threshold = float(np.percentile(told, percentile)) if told.size else 0.0
        pieces: list[Piece] = []
        for run, gaps in zip(self._runs, distances, strict=True):
            cutter = _Cutter(run.units, gaps, self._sizes)
            for number, (first, stop) in enumerate(cutter.segments(threshold)):
                units = run.units[first:stop]
                repeated = sum(unit.repeated for unit in units)
                pieces.append(Piece(run.section.path, units, headed=number == 0, repeated=repeated))
        return [chunk_of(self._text, ordinal, piece) for ordinal, piece in enumerate(joined(pieces, self._sizes))]

    def _distances(self, run: _Run, vectors: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float64]:
        """The distance across each place between two units of a section."""
        if not run.places:
            return np.full(len(run.units) - 1, _NEVER)
        before, after = (np.array([vectors[pair[side]] for pair in run.places], dtype=np.float64) for side in (0, 1))
        gaps = 1.0 - (before * after).sum(axis=1)
        for place, unit in enumerate(run.units[:-1]):
            if unit.kind is Kind.HEADING or self._text[unit.end - 1] in ":：":  # it announces what follows
                gaps[place] = _NEVER
        return gaps


class _Cutter:
    """Cuts the units of one section."""

    def __init__(self, units: list[Block], gaps: npt.NDArray[np.float64], sizes: Sizes) -> None:
        self._gaps = gaps
        self._sizes = sizes
        self._starts = np.array([unit.start for unit in units])
        self._ends = np.array([unit.end for unit in units])
        self._repeated = np.concatenate([[0], np.cumsum([unit.repeated for unit in units])])

    def segments(self, threshold: float) -> list[tuple[int, int]]:
        """Half-open spans of units: cut above the threshold, none needlessly small, none too long."""
        cuts = [0, *(int(place) + 1 for place in np.flatnonzero(self._gaps > max(threshold, 0.0))), len(self._ends)]
        spans = self._none_small(list(pairwise(cuts)))
        return [part for span in spans for part in self._none_long(span)]

    def _size(self, first: int, stop: int) -> int:
        return int(self._ends[stop - 1] - self._starts[first] + self._repeated[stop] - self._repeated[first])

    def _none_small(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """A span under the minimum joins the one before or after, whichever is nearer in meaning."""
        kept: list[tuple[int, int]] = []
        position = 0
        while position < len(spans):
            span = spans[position]
            position += 1
            if self._size(*span) >= self._sizes.minimum:
                kept.append(span)
                continue
            before = self._gaps[span[0] - 1] if kept and self._fits(kept[-1][0], span[1]) else np.inf
            after = self._gaps[span[1] - 1] if position < len(spans) else np.inf
            if before <= after and before < np.inf:
                kept[-1] = (kept[-1][0], span[1])
            elif after < np.inf and self._fits(span[0], spans[position][1]):
                spans[position] = (span[0], spans[position][1])
            else:
                kept.append(span)
        return kept

    def _fits(self, first: int, stop: int) -> bool:
        return self._size(first, stop) <= self._sizes.maximum

    def _none_long(self, span: tuple[int, int]) -> list[tuple[int, int]]:
        """Parts up to the target, cut where the distance is largest and neither side gets too small."""
        parts: list[tuple[int, int]] = []
        left = [span]
        while left:
            first, stop = left.pop()
            place = self._best_place(first, stop) if self._size(first, stop) > self._sizes.target else -1
            if place < 0:
                parts.append((first, stop))
            else:
                left += [(place + 1, stop), (first, place + 1)]
        return parts

    def _best_place(self, first: int, stop: int) -> int:
        """Where to cut; -1 when it need not be and no place is good."""
        if stop - first < 2:
            return -1
        gaps = self._gaps[first : stop - 1]
        before = self._ends[first : stop - 1] - self._starts[first]
        after = self._ends[stop - 1] - self._starts[first + 1 : stop]
        good = (gaps > _NEVER) & (np.minimum(before, after) >= self._sizes.minimum)
        if not good.any():
            if self._size(first, stop) <= self._sizes.maximum:
                return -1
            good = gaps > _NEVER if (gaps > _NEVER).any() else np.full(len(gaps), True)
        return first + int(np.argmax(np.where(good, gaps, -np.inf)))


def _units(text: str, block: Block, sizes: Sizes) -> list[Block]:
    """The smallest parts that are never cut: sentences, short lists, code and tables. 20 deep, as the parser goes."""
    if block.inside:
        if block.size <= min(_WHOLE, sizes.target):
            return [block]
        return [unit for inner in block.inside for unit in _units(text, inner, sizes)]
    if block.kind is not Kind.PROSE:
        return fitting(text, block, sizes)
    sentences = [Block(kind=Kind.PROSE, start=a, end=b) for a, b in sentence_spans(text, block.start, block.end)]
    return [
        part
        for each in sentences
        for part in ([each] if each.size <= sizes.target else cut_block(text, each, sizes.target, sizes.maximum))
    ]
