"""The result for thanks, a greeting or a goodbye: nothing was asked, so nothing is searched, recorded or missed."""

from __future__ import annotations

from harry_mcp.domain.courtesies import courtesy
from harry_mcp.domain.search import Band, NextAction, OptimizedQuery, SearchResult, SearchStatus, Verdict
from harry_mcp.stages.retrieve.query import clean

_REASON = (
    "This is no question but a courtesy, so nothing was searched. Reply to it in a sentence; ask no other tool and "
    "cite nothing."
)


def no_question(text: str, *, answered: bool) -> SearchResult | None:
    """The result where there is nothing to search for, None where there is. ``answered``: something was said before."""
    said = clean(text)
    if courtesy(said, answered=answered) is None:
        return None
    return SearchResult(
        search_id="",
        question=said,
        query=OptimizedQuery(question=said, text="", keywords=""),
        status=SearchStatus.NO_QUESTION,
        verdict=Verdict(
            score=0.0,
            answerable=0.0,
            band=Band.WEAK,
            next_action=NextAction.REPLY,
            reason=_REASON,
            relevance_source="none",
        ),
        hits=(),
        ranking=(),
        timings_ms={"total": 0.0},
    )
