"""A look at a site before it is crawled: how many pages there will be, and some of them to judge the others by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harry_mcp.domain.crawls import Outcome, StoredPages
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.ingest.crawl.scope import Scope
from harry_mcp.ingest.crawl.visiting import Visitor

_SAMPLE = 5  # pages that are read: robots.txt allows them like any other, and a crawl reads them again
_TRIES = 12  # addresses that are asked for to get them

Basis = Literal["listed", "known", "limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """How many pages a crawl will write, all in all, and a few of them.

    ``basis``: the site lists so many, an earlier crawl knew so many, or nobody knows and it is the page limit.
    ``stored`` of the pages are in the knowledge base as they would be stored now, and are not in ``pages``.
    """

    pages: int
    basis: Basis
    stored: int
    sample: tuple[SourceDocument, ...]


async def look_ahead(
    visitor: Visitor, scope: Scope, listed: Sequence[str], stored: StoredPages, *, most: int, fresh: bool
) -> Outlook:
    """Judge a site by what it lists of itself, by what is known of it, and by a few of its pages."""
    basis: Basis = "listed" if len(listed) > 1 else "known" if stored.pages > 1 else "limit"
    pages = {"listed": len(listed), "known": stored.pages, "limit": most}[basis]
    kept = 0 if fresh else min(stored.current, pages)
    return Outlook(
        pages=min(most, pages - kept), basis=basis, stored=kept, sample=tuple(await _sample(visitor, scope, listed))
    )


async def _sample(visitor: Visitor, scope: Scope, listed: Sequence[str]) -> list[SourceDocument]:
    """Pages from all over the list; where there is none, the start page and some that it links to."""
    found: dict[str, SourceDocument] = {}
    first = await visitor.look_in(scope.start)
    if first.outcome is Outcome.STORED and first.document:
        found[first.document.source] = first.document
    linked = [link.url for link in first.links or () if scope.refusal(link.url, 1, nofollow=link.nofollow) is None]
    others = [url for url in dict.fromkeys(listed if len(listed) > 1 else linked) if url != scope.start]
    for url in _spread(others, _TRIES):
        if len(found) >= _SAMPLE:
            break
        finding = await visitor.look_in(url)
        if finding.outcome is Outcome.STORED and finding.document:
            found.setdefault(finding.document.source, finding.document)
    return list(found.values())


def _spread(urls: Sequence[str], most: int) -> list[str]:
    """So many, in even steps."""
    return [urls[place * len(urls) // most] for place in range(most)] if len(urls) > most else list(urls)
