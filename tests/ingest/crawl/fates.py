"""A site that knows what must become of each of its addresses, so that a report can be held to it word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from io import BufferedIOBase
from typing import Literal

from tests.ingest.crawl.site import Reply, Site, prose

Place = Literal["new", "changed", "unchanged", "duplicates", "redirected", "gone", "refused", "failed"]
# Reasons that rest on what a page said, so that the page need not be sent again while it stays the same.
_SAID = frozenset({"noindex", "login", "error_page", "empty", "soft_404", "not_text"})


@dataclass(frozen=True, slots=True)
class Fate:
    """Where an address stands in the report, with its target or reason, and the answers that it takes to know it."""

    place: Place
    says: str = ""
    asked: tuple[int, ...] = (200,)


class FatedSite:
    """A site under construction: every ``put`` says what the crawl must make of it. ``finish`` writes the hubs."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.fates: dict[str, Fate] = {}
        self._hubs: dict[str, list[str]] = {}

    def hub(self, path: str) -> str:
        """A page that is met from the front page, and that links to the traps of one kind."""
        self._hubs[path] = []
        return path

    def link(self, hub: str, *hrefs: str) -> None:
        """Links on a hub; without a hub they are met some other way."""
        if hub:
            self._hubs[hub].extend(hrefs)

    def fate(self, path: str, place: Place, says: str = "", asked: tuple[int, ...] = (200,)) -> None:
        self.fates[self.url(path)] = Fate(place, self.url(says) if says.startswith("/") else says, asked)

    def page(self, hub: str, path: str, text: str = "", *links: str, **options: object) -> None:
        """A good page; without a text it has one of its own."""
        self.site.page(path, text or prose(path), *links, **options)  # pyright: ignore[reportArgumentType]
        self.link(hub, path)
        self.fate(path, "new")

    def put(self, hub: str, path: str, body: str | bytes, place: Place, says: str = "", **options: object) -> None:
        """Any other answer."""
        self.site.put(path, body, **options)
        self.link(hub, path)
        status = options.get("status", 200)
        self.fate(path, place, says, (status if isinstance(status, int) else 200,))

    def moved(self, hub: str, path: str, to: str, status: int = 302, *, target: str = "") -> None:
        """A redirect that is followed, or refused where it leads."""
        self.site.moved(path, to, status)
        self.link(hub, path)
        self.fate(path, "redirected", target or to, (status,))

    def never(self, hub: str, href: str, reason: str, *, address: str = "") -> None:
        """A link that is refused without asking anybody."""
        self.link(hub, href)
        self.fate(address or href, "refused", reason, ())

    def wire(self, hub: str, path: str, write: Callable[[BufferedIOBase], None], reason: str, tries: int = 1) -> None:
        """A server that speaks HTTP badly, or for ever."""
        self.site.replies[path] = Reply(raw=write)
        self.link(hub, path)
        self.fate(path, "failed", reason, (0,) * tries)

    def finish(self) -> None:
        for hub, links in self._hubs.items():
            self.site.page(hub, prose(hub), *links)
            self.fate(hub, "new")
        self.site.page("/", prose("the front page"), *self._hubs)
        self.fate("/", "new")

    def url(self, path: str) -> str:
        return path if "://" in path else self.site.url + path

    def again(self) -> None:
        """What must become of every address when nothing changed."""
        for url, fate in self.fates.items():
            place: Place = "unchanged" if fate.place in ("new", "changed") else fate.place
            known = place in ("unchanged", "duplicates") or fate.says in _SAID
            reply = self.site.answer(url.removeprefix(self.site.url))
            if known and fate.asked and (reply.etag or reply.modified):
                fate = replace(fate, asked=(304,))
            elif known:
                fate = replace(fate, asked=fate.asked[-1:])
            self.fates[url] = replace(fate, place=place)

    def forget(self, *paths: str) -> None:
        """Addresses that are not met any more."""
        for path in paths:
            del self.fates[self.url(path)]

    def places(self) -> dict[str, tuple[str, str]]:
        """Every address with the list of the report that it stands in, and its target or reason there."""
        return {url: (fate.place, fate.says) for url, fate in self.fates.items()}

    def requests(self, besides: Iterable[str] = ()) -> Counter[tuple[str, int]]:
        """Every request for a page that the server must get; ``besides`` are asked for once more, with success."""
        counted = Counter({(path, 200): 1 for path in besides})
        for url, fate in self.fates.items():
            for status in fate.asked:
                counted[(url.removeprefix(self.site.url), status)] += 1
        return counted
