"""The ranker without a key: cosine of meaning plus keyword evidence on an absolute scale.

F = cosine + L / self. L is BM25 over the passage, plus a share of BM25 over the title and of BM25 over pairs of
neighbouring words; ``self`` is the most that the question could score, so that L / self compares across questions,
and a word that the knowledge base does not know lowers it. Both parts are exact for every candidate, whichever leg
brought it up. What stands around a passage is then counted in (``surroundings``). Measured against other fusions on
seven corpora, F orders best; the numbers are in the README.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.bm25 import K1, B, idf
from harry_mcp.domain.search import Candidate, CorpusStatistics, QueryTerm
from harry_mcp.providers.local.surroundings import lifted

TITLE_WEIGHT = 0.25
TITLE_B = 0.5
PAIR_WEIGHT = 0.2

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


class LocalRanker:
    """Scores candidates from what retrieval already measured; it reads no text and calls no model."""

    @property
    def name(self) -> str:
        return "local-fusion-2"

    def rank(
        self, terms: Sequence[QueryTerm], candidates: Sequence[Candidate], statistics: CorpusStatistics
    ) -> list[Candidate]:
        if not candidates:
            return []
        lexical = _lexical(terms, candidates, statistics)
        own = lexical.share + np.array([candidate.cosine or 0.0 for candidate in candidates])
        fusion = lifted(own, lexical.words, candidates)
        scored = [
            candidate._replace(bm25=bm25, lexical=share, fusion=f)
            for candidate, bm25, share, f in zip(
                candidates, lexical.bm25.tolist(), lexical.share.tolist(), fusion.tolist(), strict=True
            )
        ]
        # What its surroundings lift as far as the best of its page still stands behind it.
        keys = zip((-fusion).tolist(), (-own).tolist(), (item.chunk_id for item in scored), strict=True)
        return [candidate for _, candidate in sorted(zip(keys, scored, strict=True), key=lambda pair: pair[0])]


@dataclass(frozen=True, slots=True)
class _Lexical:
    """The keyword evidence of every candidate: L / self, plain BM25 of its passage, and of that by word, per self."""

    share: Floats
    bm25: Floats
    words: Floats


@dataclass(frozen=True, slots=True)
class _Sequences:
    """The terms of all candidates end to end: which word of the question each is (-1 for none), and whose."""

    words: Counts
    owners: Counts
    lengths: Counts

    @classmethod
    def of(cls, packed: Sequence[bytes], numbers: dict[int, int]) -> _Sequences:
        lengths = np.array([len(item) // 4 for item in packed], dtype=np.int64)
        terms = np.frombuffer(b"".join(packed), dtype="<i4").astype(np.int64)
        ids = np.array(sorted(numbers), dtype=np.int64)
        words = np.full(len(terms), -1, dtype=np.int64)
        if len(ids) and len(terms):
            place = np.minimum(np.searchsorted(ids, terms), len(ids) - 1)
            found = ids[place] == terms
            of_id = np.array([numbers[int(i)] for i in ids], dtype=np.int64)
            words[found] = of_id[place[found]]
        return cls(words, np.repeat(np.arange(len(packed)), lengths), lengths)

    def frequencies(self, words: int) -> Counts:
        """How often each candidate holds each word, shape ``(candidates, words)``."""
        known = self.words >= 0
        flat = self.owners[known] * words + self.words[known]
        return np.bincount(flat, minlength=len(self.lengths) * words).reshape(len(self.lengths), words)


def _lexical(terms: Sequence[QueryTerm], candidates: Sequence[Candidate], statistics: CorpusStatistics) -> _Lexical:
    n = max(statistics.chunks, 1)
    weights = np.array([idf(term.df, n) for term in terms])
    if not weights.sum():
        nothing = np.zeros(len(candidates))
        return _Lexical(nothing, nothing, np.zeros((len(candidates), 1)))
    numbers = {i: number for number, term in enumerate(terms) for i in term.ids}
    body = _Sequences.of([candidate.terms for candidate in candidates], numbers)
    title = _Sequences.of([candidate.title_terms for candidate in candidates], numbers)
    words = _by_word(body, weights, statistics.length_sum / n, B)
    passage = words.sum(axis=1)
    title_weights = np.array([idf(term.title_df, n) for term in terms])
    titles = _by_word(title, title_weights, statistics.title_sum / n, TITLE_B).sum(axis=1)
    pairs = _pairs(body, weights, statistics.length_sum / n)
    most = (K1 + 1) * weights.sum()
    return _Lexical((passage + TITLE_WEIGHT * titles + PAIR_WEIGHT * pairs) / most, passage, words / most)


def _by_word(field: _Sequences, weights: Floats, average: float, b: float) -> Floats:
    return _saturated(field.frequencies(len(weights)), field.lengths, average, b) * weights


def _saturated(frequencies: Counts, lengths: Counts, average: float, b: float) -> Floats:
    norm = K1 * (1 - b + b * lengths / max(average, 1.0))
    return frequencies * (K1 + 1) / (frequencies + norm[:, None])


def _pairs(body: _Sequences, weights: Floats, average: float) -> Floats:
    """BM25 over neighbouring words that are neighbours in the question too, each weighing what its words do.

    In either order: who asks for the `Timer struct` means ``struct Timer``.
    """
    if len(weights) < 2:
        return np.zeros(len(body.lengths))
    left, right = body.words[:-1], body.words[1:]
    known = (body.owners[:-1] == body.owners[1:]) & (left >= 0) & (right >= 0)
    same = known & (np.abs(left - right) == 1)
    flat = body.owners[:-1][same] * len(weights) + np.minimum(left, right)[same]
    counts = np.bincount(flat, minlength=len(body.lengths) * len(weights))
    frequencies = counts.reshape(len(body.lengths), len(weights))[:, :-1]
    pair_weights = (weights[:-1] + weights[1:]) / 2
    return _saturated(frequencies, body.lengths, average, B) @ pair_weights
