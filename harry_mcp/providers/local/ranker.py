"""The ranker without a key: cosine of meaning plus keyword evidence on an absolute scale.

F = cosine + L / self. L is BM25 over the passage, plus a share of BM25 over the title and of BM25 over pairs of
neighbouring words; ``self`` is the most that the question could score, so that L / self compares across questions,
and a word that the knowledge base does not know lowers it. Both parts are exact for every candidate, whichever leg
brought it up. Measured against other fusions on seven corpora, F orders best; the numbers are in the README.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.bm25 import K1, B, idf
from harry_mcp.domain.search import Candidate, CorpusStatistics, QueryTerm

TITLE_WEIGHT = 0.25
TITLE_B = 0.5
PAIR_WEIGHT = 0.2

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


class LocalRanker:
    """Scores candidates from what retrieval already measured; it reads no text and calls no model."""

    @property
    def name(self) -> str:
        return "local-fusion-1"

    def rank(
        self, terms: Sequence[QueryTerm], candidates: Sequence[Candidate], statistics: CorpusStatistics
    ) -> list[Candidate]:
        if not candidates:
            return []
        lexical, bm25 = _lexical(terms, candidates, statistics)
        scored = [
            candidate._replace(
                bm25=own, lexical=share, fusion=share + (candidate.cosine if candidate.cosine is not None else 0.0)
            )
            for candidate, share, own in zip(candidates, lexical.tolist(), bm25.tolist(), strict=True)
        ]
        return sorted(scored, key=lambda candidate: (-candidate.fusion, candidate.chunk_id))


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


def _lexical(
    terms: Sequence[QueryTerm], candidates: Sequence[Candidate], statistics: CorpusStatistics
) -> tuple[Floats, Floats]:
    """L / self of every candidate, and the plain BM25 of its passage."""
    n = max(statistics.chunks, 1)
    weights = np.array([idf(term.df, n) for term in terms])
    if not weights.sum():
        return np.zeros(len(candidates)), np.zeros(len(candidates))
    numbers = {i: number for number, term in enumerate(terms) for i in term.ids}
    body = _Sequences.of([candidate.terms for candidate in candidates], numbers)
    title = _Sequences.of([candidate.title_terms for candidate in candidates], numbers)
    passage = _bm25(body, weights, statistics.length_sum / n, B)
    title_weights = np.array([idf(term.title_df, n) for term in terms])
    titles = _bm25(title, title_weights, statistics.title_sum / n, TITLE_B)
    pairs = _pairs(body, weights, statistics.length_sum / n)
    most = (K1 + 1) * weights.sum()
    return (passage + TITLE_WEIGHT * titles + PAIR_WEIGHT * pairs) / most, passage


def _bm25(field: _Sequences, weights: Floats, average: float, b: float) -> Floats:
    return _saturated(field.frequencies(len(weights)), field.lengths, average, b) @ weights


def _saturated(frequencies: Counts, lengths: Counts, average: float, b: float) -> Floats:
    norm = K1 * (1 - b + b * lengths / max(average, 1.0))
    return frequencies * (K1 + 1) / (frequencies + norm[:, None])


def _pairs(body: _Sequences, weights: Floats, average: float) -> Floats:
    """BM25 over neighbouring words that are neighbours in the question too, each weighing what its words do."""
    if len(weights) < 2:
        return np.zeros(len(body.lengths))
    left, right = body.words[:-1], body.words[1:]
    same = (body.owners[:-1] == body.owners[1:]) & (left >= 0) & (right == left + 1)
    flat = body.owners[:-1][same] * len(weights) + left[same]
    counts = np.bincount(flat, minlength=len(body.lengths) * len(weights))
    frequencies = counts.reshape(len(body.lengths), len(weights))[:, :-1]
    pair_weights = (weights[:-1] + weights[1:]) / 2
    return _saturated(frequencies, body.lengths, average, B) @ pair_weights
