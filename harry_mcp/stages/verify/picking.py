"""Which passages of the pages that the web brought are passed on."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from harry_mcp.domain.bm25 import K1, B, idf
from harry_mcp.domain.tokens import index_terms, query_terms


def pick(question: str, pages: Sequence[Sequence[str]], most: int) -> list[tuple[str, ...]]:
    """At most ``most`` passages of each page, in the order of the page: those that BM25 puts first among all pages.

    A page none of whose passages shares a word with the question gives none.
    """
    passages = [(page, text) for page, texts in enumerate(pages) for text in texts]
    scores = _scores(question, [text for _, text in passages])
    chosen: list[tuple[str, ...]] = []
    for number in range(len(pages)):
        own = [(score, place) for place, score in enumerate(scores) if passages[place][0] == number and score > 0]
        best = sorted(own, key=lambda item: (-item[0], item[1]))[:most]
        chosen.append(tuple(passages[place][1] for place in sorted(place for _, place in best)))
    return chosen


def _scores(question: str, passages: Sequence[str]) -> list[float]:
    """BM25 of each passage with the constants and the IDF of the index (RET-5)."""
    terms = [index_terms(passage) for passage in passages]
    if not any(terms):
        return [0.0] * len(passages)
    # No types are published for it, and importing it takes as long as a search.
    okapi: Any = importlib.import_module("rank_bm25").BM25Okapi(terms, k1=K1, b=B)
    df: dict[str, int] = {}
    for document in okapi.doc_freqs:
        for term in document:
            df[term] = df.get(term, 0) + 1
    okapi.idf = {term: idf(count, len(terms)) for term, count in df.items()}
    return [float(score) for score in okapi.get_scores([forms[0] for forms in query_terms(question)])]
