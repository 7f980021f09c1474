"""BM25's constants and its inverse document frequency, shared by the index and the ranker.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. The constants are lower than the
usual 1.2 and 0.75, which suit whole documents: passages are cut to about one length, so length says little of them, and
a word that is there twice says hardly more than one that is there once.
"""

from __future__ import annotations

import math

K1 = 0.9
B = 0.4


def idf(df: int, chunks: int) -> float:
    """ln(1 + (N - df + 0.5) / (df + 0.5)), never negative; a df over N (a word's variants overlap) counts as N."""
    df = min(df, chunks)
    return math.log(1 + (chunks - df + 0.5) / (df + 0.5))
