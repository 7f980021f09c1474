"""BM25's constants and its inverse document frequency, shared by the index and the ranker.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
"""

from __future__ import annotations

import math

K1 = 1.2
B = 0.75


def idf(df: int, chunks: int) -> float:
    """ln(1 + (N - df + 0.5) / (df + 0.5)), never negative; a df over N (a word's variants overlap) counts as N."""
    df = min(df, chunks)
    return math.log(1 + (chunks - df + 0.5) / (df + 0.5))
