"""What an opinion is about: the result behind an id, and the documents behind addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

from harry_mcp.domain.plain import one_line
from harry_mcp.domain.search import NextAction
from harry_mcp.domain.verified import Match, VerifiedSource
from harry_mcp.errors import NotFoundError, SourceError
from harry_mcp.ingest.addresses import spellings
from harry_mcp.ingest.sources import file_of
from harry_mcp.storage.signals import AddressedDocument
from harry_mcp.storage.unit_of_work import UnitOfWork
from harry_mcp.storage.verified import Lookup
from harry_mcp.storage.web import StoredWebSearch

LONGEST_ID = 200
_SHOWN = 80
# What may have been copied with a name: brackets, quotes, and the end of the sentence that it stood in.
_AROUND = " <>()[]\"'`.,;"
_RESOURCE = "kb://documents/"
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Rated:
    """The result that an opinion is about. ``documents`` are those that it brought, best first.

    ``answered``: there was something to answer from in it. ``rewritten``: its question followed up on others, and is
    told as it stands alone.
    """

    question: str
    answered: bool
    documents: tuple[str, ...] = ()
    lookup: Lookup | None = None
    web: StoredWebSearch | None = None
    rewritten: bool = False


async def rated(unit: UnitOfWork, result_id: str) -> Rated:
    """The result of an id, wherever it came from.

    Raises:
        NotFoundError: there is none.
    """
    lookup = await unit.verified.lookup(result_id)
    helped = (lookup is not None and lookup.match != Match.NONE) or bool(await unit.corrections.injected_by(result_id))
    search = await unit.searches.get(lookup.search_id if lookup and lookup.search_id else result_id)
    if search is not None:
        documents = tuple(dict.fromkeys(str(item["document_id"]) for item in search.ranking))
        found = search.verdict["next_action"] != NextAction.CALL_WEB_FALLBACK
        helped = helped or bool(await unit.corrections.injected_by(search.id))
        rewritten = "asked" in search.course
        return Rated(search.question, found or helped, documents, lookup, rewritten=rewritten)
    if lookup is not None:
        return Rated(lookup.question, helped, (), lookup)
    web = await unit.web.get(result_id)
    if web is not None:
        return Rated(web.question, bool(web.results), web=web)
    raise NotFoundError(
        f"There is no result {result_id[:60]!r}. Pass the search_id, lookup_id or web_id of an answer that a tool gave."
    )


async def named(unit: UnitOfWork, urls: Sequence[str]) -> dict[str, AddressedDocument]:
    """The documents behind addresses, sources, files or ids, each once, by id."""
    found: dict[str, AddressedDocument] = {}
    for url in urls:
        found.update((document.id, document) for document in await unit.signals.addressed(_spellings(url)))
    return found


async def unplaced(
    unit: UnitOfWork, urls: Sequence[str], spoken: Sequence[str], about: Rated | None = None
) -> list[str]:
    """A sentence on the addresses that no document and no web page of a result has; none where all are known.

    ``spoken`` are the same addresses as they may be shown.
    """
    pages = {str(page["url"]) for page in about.web.results} if about and about.web else set[str]()
    unknown = [
        one_line(shown, _SHOWN)
        for url, shown in zip(urls, spoken, strict=True)
        if not pages & set(_spellings(url)) and not await unit.signals.addressed(_spellings(url))
    ]
    if not unknown:
        return []
    more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
    named_here = ", ".join(unknown[:_NAMED])
    return [
        f"No document has the address {named_here}{more}; send the feedback again with the right one if it matters."
    ]


async def sources(unit: UnitOfWork, urls: Sequence[str], about: Rated) -> list[VerifiedSource]:
    """What a praised answer rests on: the documents and web pages behind its addresses, else the best that was found
    where that was an answer.

    An address that is neither in the knowledge base nor was returned by the web search is left out: it was made up.
    """
    titles = {str(page["url"]): str(page["title"]) for page in about.web.results} if about.web else {}
    found: dict[str, VerifiedSource] = {}
    for url in urls or titles:
        for document in (await named(unit, [url])).values():
            found[document.id] = await _source(unit, document.id)
        for page in titles.keys() & set(_spellings(url)):
            found[page] = VerifiedSource(title=titles[page] or page, url=page)
    if not found and about.answered and about.documents:
        best = about.documents[0]
        found[best] = await _source(unit, best)
    return [source for source in found.values() if source.title]


async def _source(unit: UnitOfWork, document_id: str) -> VerifiedSource:
    """A document as a source; without a title when it is gone."""
    document = await unit.documents.get(document_id)
    if document is None:
        return VerifiedSource(title="")
    return VerifiedSource(
        title=document.title or document.source, url=document.url, source=document.source, document_id=document.id
    )


def _spellings(cited: str) -> list[str]:
    """The names under which a document may be stored that somebody cites by any name that a reply gives it, copied with
    what stands around it or typed anew."""
    found: list[str] = []
    for name in dict.fromkeys((cited, cited.strip(_AROUND))):
        try:
            found += spellings(name)
        except SourceError:
            found += [name, name.removeprefix(_RESOURCE), *_file_uris(name)]
    return list(dict.fromkeys(found))


def _file_uris(name: str) -> list[str]:
    """A file URI or the whole path of a file, as ingestion writes it; nothing for any other name."""
    try:
        path = file_of(name)
    except ValueError:
        return []
    paths = (path,) if path is not None else (PurePosixPath(name), PureWindowsPath(name))
    return [each.as_uri() for each in paths if each.is_absolute()]
