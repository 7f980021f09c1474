"""Asking the web on the hosts of the allow-list, and letting through only what is really there and fits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from harry_mcp.domain.deadlines import Deadline
from harry_mcp.domain.hosts import AllowList, plain_address
from harry_mcp.domain.web import RefusedPage, WebFinding, WebPage, WebSource, shown_address
from harry_mcp.ports import WebSearch
from harry_mcp.settings import WebSection
from harry_mcp.stages.verify.picking import pick

_LONGEST_TITLE = 200
_UNCHECKED = "Where this address leads now could not be checked; it stands on an allowed host."
_GONE = "This address now answers that the page is gone ({status}); the text is an older copy."


@dataclass(frozen=True, slots=True)
class Led:
    """Where an address leads: the last one, and what that answers. ``status`` 0: it could not be found out."""

    address: str
    status: int


class Follow(Protocol):
    """Finds out where addresses lead, without reading them."""

    async def __call__(
        self, addresses: Sequence[str], *, allowed: Callable[[str], bool], seconds: float
    ) -> Sequence[Led]:
        """One answer for each address, in order. A redirect to what is not ``allowed`` is named and not followed."""
        ...


class PageReader(Protocol):
    """Makes the text of a page fit to be shown: nothing in it that a reader of the page would not see."""

    def line(self, text: str) -> str:
        """A text on one line."""
        ...

    def passages(self, text: str, *, title: str) -> list[str]:
        """The passages of a text in Markdown, in order, each of a bounded length."""
        ...


@dataclass(frozen=True, slots=True)
class _Kept:
    """A page that was let through so far, by the plain form of its address."""

    address: str
    page: WebPage
    caveats: tuple[str, ...] = ()


class WebStage:
    """The web through one search service. What comes out holds nothing from a host that is not on the list."""

    def __init__(
        self, search: WebSearch, allow: AllowList, settings: WebSection, *, follow: Follow, reader: PageReader
    ) -> None:
        self._search = search
        self._allow = allow
        self._settings = settings
        self._follow = follow
        self._reader = reader

    @property
    def recipe(self) -> tuple[object, ...]:
        """All that decides which passages come out for a question, beside the list of hosts."""
        s = self._settings
        chosen = (s.floor, s.results, s.chunks, s.chunk_characters, s.page_characters, s.redirects)
        return (self._search.name, *chosen)

    async def ask(self, question: str, query: str, deadline: Deadline) -> WebFinding:
        """The pages that ``query`` brings, with the passages that fit ``question`` best.

        Raises:
            ProviderTimeout: the service did not answer in time.
            ProviderError: it failed, or refused the key.
        """
        s = self._settings
        pages = await self._search.search(
            query, hosts=self._allow.hosts, results=2 * s.results, timeout=max(deadline.left, 0.01)
        )
        kept, refused = sift(pages, self._allow, s.floor)
        kept, misled = await self._led(kept[: s.results], deadline)
        sources, degraded = await self._sources(question, kept, deadline)
        empty = [RefusedPage(url=source.url, reason="it holds no text") for source in sources if not source.passages]
        return WebFinding(
            sources=tuple(source for source in sources if source.passages),
            refused=(*refused, *misled, *empty),
            degraded=degraded,
        )

    async def _led(self, kept: Sequence[_Kept], deadline: Deadline) -> tuple[list[_Kept], list[RefusedPage]]:
        """The pages whose addresses do not lead off the list, and those whose do."""
        if self._settings.redirects == "off" or not kept:
            return list(kept), []
        led = await self._follow(
            [item.address for item in kept],
            allowed=lambda address: self._allow.refusal(address) is None,
            seconds=deadline.within(self._settings.redirect_budget),
        )
        staying: list[_Kept] = []
        refused: list[RefusedPage] = []
        for item, where in zip(kept, led, strict=True):
            fault = self._allow.refusal(where.address)
            if fault is not None:
                where_to = shown_address(where.address) or "what is no web address"
                reason = f"it redirects to {where_to}, and {fault}"
                refused.append(RefusedPage(url=shown_address(item.page.url), reason=reason))
            elif where.status == 0 and self._settings.redirects == "require":
                reason = "where it leads could not be checked"
                refused.append(RefusedPage(url=shown_address(item.page.url), reason=reason))
            else:
                staying.append(_Kept(item.address, item.page, _caveats(where)))
        return staying, refused

    async def _sources(
        self, question: str, kept: Sequence[_Kept], deadline: Deadline
    ) -> tuple[list[WebSource], tuple[str, ...]]:
        try:
            async with asyncio.timeout(max(deadline.left, 0.1)):
                return await asyncio.to_thread(self._read, question, kept), ()
        except TimeoutError:
            # The service's own snippets are there and short.
            return await asyncio.to_thread(self._read, question, kept, snippets=True), ("web_pages_unread",)

    def _read(self, question: str, kept: Sequence[_Kept], *, snippets: bool = False) -> list[WebSource]:
        titles = [self._reader.line(item.page.title[: 2 * _LONGEST_TITLE])[:_LONGEST_TITLE].rstrip() for item in kept]
        texts = ["" if snippets else item.page.content for item in kept]
        cut = [self._passages(text, title) for text, title in zip(texts, titles, strict=True)]
        found = pick(question, cut, self._settings.chunks)
        return [
            WebSource(
                url=item.address,
                title=title or item.address,
                score=item.page.score,
                passages=passages or tuple(self._passages(item.page.snippet, title)[: self._settings.chunks]),
                caveats=item.caveats,
            )
            for item, title, passages in zip(kept, titles, found, strict=True)
        ]

    def _passages(self, text: str, title: str) -> list[str]:
        return self._reader.passages(text[: self._settings.page_characters], title=title) if text.strip() else []


def sift(pages: Sequence[WebPage], allow: AllowList, floor: float) -> tuple[list[_Kept], list[RefusedPage]]:
    """The pages that stand on a listed host with at least a score of ``floor``, best first and each address once."""
    kept: dict[str, _Kept] = {}
    refused: list[RefusedPage] = []
    for page in sorted(pages, key=lambda page: -page.score):
        fault = allow.refusal(page.url)
        if fault is None and page.score < floor:
            refused.append(
                RefusedPage(url=shown_address(page.url), reason=f"its score {page.score:.4g} is under {floor:.4g}")
            )
        elif fault is not None:
            refused.append(RefusedPage(url=shown_address(page.url), reason=fault.value))
        else:
            address = plain_address(page.url).partition("#")[0]
            kept.setdefault(address, _Kept(address, page))
    return list(kept.values()), refused


def _caveats(where: Led) -> tuple[str, ...]:
    if where.status == 0:
        return (_UNCHECKED,)
    return (_GONE.format(status=where.status),) if where.status in (404, 410) else ()
