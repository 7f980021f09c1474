"""What tools returned in a conversation, numbered for citing: the one list that an answer may cite from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from harry_mcp.agent.contract import CorrectionNote, Hit, Official, SearchResult, WebResult
from harry_mcp.domain.plain import one_line

Kind = Literal["document", "official", "web", "correction"]

ADDRESS = re.compile(r"(?:\b(?:https?|ftps?)://|\bwww\.)[^\s<>\"'`|\\^{}\[\]]+", re.IGNORECASE)
_BEHIND = ".,;:!?*_~"
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source that may be cited as ``[number]``. ``score`` is -1 where none was given."""

    number: int
    kind: Kind
    title: str
    url: str
    source: str = ""
    score: float = -1.0
    caveats: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        return self.url or self.source

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"score": round(self.score, 4), "caveats": list(self.caveats)}


@dataclass(slots=True)
class Sources:
    """Sources by number, one for each address, and every address that a tool returned.

    ``known`` holds addresses that may stand in an answer though they are no source of their own: a document may name a
    page to open. What a web page names is not among them, for anybody may have written it.
    """

    _found: dict[str, Source] = field(default_factory=dict[str, Source])
    known: set[str] = field(default_factory=set[str])

    def __iter__(self) -> Iterator[Source]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    def numbered(self, number: int) -> Source | None:
        return next((source for source in self._found.values() if source.number == number), None)

    def by_address(self, address: str) -> Source | None:
        """The source behind an address, however it is spelled."""
        key = address_key(address)
        return next((source for source in self._found.values() if source.url and address_key(source.url) == key), None)

    def allows(self, address: str) -> bool:
        """Whether a tool returned the address, or it is one of this machine and no citation."""
        return address_key(address) in self.known or _is_here(address)

    def add_search(self, result: SearchResult) -> list[Source]:
        """The sources of the hits in their order; what an official answer rests on and corrections name is known."""
        added = [self.add_hit(hit) for hit in result.hits]
        self._know(each.url for each in result.verified.sources)
        self._know(each.source_url for each in result.corrections)
        self.know_text(result.verified.answer)
        for each in result.corrections:
            self.know_text(f"{each.lesson}\n{each.truth}")
        return added

    def add_hit(self, hit: Hit) -> Source:
        self.know_text(hit.text)
        return self._add(
            hit.url or hit.source or hit.document_id,
            Source(
                number=0,
                kind="document",
                title=hit.title or hit.url or hit.source,
                url=hit.url if _is_web(hit.url) else "",
                source=hit.source or hit.document_id,
                score=hit.score,
                caveats=hit.caveats,
            ),
        )

    def add_official(self, official: Official) -> list[Source]:
        return [
            self._add(
                each.url or each.document_id,
                Source(
                    number=0,
                    kind="official",
                    title=each.title or each.url,
                    url=each.url if _is_web(each.url) else "",
                    source=each.document_id,
                    caveats=official.caveats,
                ),
            )
            for each in official.sources
            if each.url or each.document_id
        ]

    def add_web(self, result: WebResult) -> list[Source]:
        return [
            self._add(
                page.url,
                Source(
                    number=0,
                    kind="web",
                    title=page.title or page.url,
                    url=page.url,
                    score=page.score,
                    caveats=page.caveats,
                ),
            )
            for page in result.results
            if _is_web(page.url)
        ]

    def add_corrections(self, corrections: Sequence[CorrectionNote]) -> list[Source]:
        return [
            self._add(
                each.correction_id or each.lesson,
                Source(number=0, kind="correction", title=each.lesson, url="", source=each.correction_id),
            )
            for each in corrections
        ]

    def know_text(self, text: str) -> None:
        """The addresses in a document of the knowledge base: an answer may repeat them."""
        self._know(trimmed(match.group()) for match in ADDRESS.finditer(text))

    def _know(self, addresses: Iterable[str]) -> None:
        self.known.update(address_key(address) for address in addresses if address)

    def _add(self, name: str, source: Source) -> Source:
        key = address_key(name) if source.url else name
        before = self._found.get(key)
        if before is None:
            clean = replace(source, number=len(self._found) + 1, title=one_line(source.title, _LONGEST_TITLE))
        else:
            clean = replace(
                before,
                score=max(before.score, source.score),
                caveats=tuple(dict.fromkeys((*before.caveats, *source.caveats))),
            )
        self._found[key] = clean
        self._know([source.url, source.source])
        return clean


def address_key(address: str) -> str:
    """One spelling for the addresses of one page: no fragment, no slash at the end, the host in small letters."""
    address = trimmed(address)
    if address.lower().startswith("www."):
        address = f"https://{address}"
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    scheme = "https" if parts.scheme == "http" else parts.scheme
    query = f"?{parts.query}" if parts.query else ""
    return f"{scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}{query}"


def trimmed(address: str) -> str:
    """An address without the punctuation of the sentence around it."""
    while address:
        bare = address.rstrip(_BEHIND)
        if bare.endswith(")") and bare.count(")") > bare.count("("):
            bare = bare[:-1]
        if bare == address:
            break
        address = bare
    return address


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _is_here(address: str) -> bool:
    try:
        return urlsplit(address).hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False
