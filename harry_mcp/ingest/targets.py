"""What a user names, a path or an address, as documents: the limits of the settings applied, the topic given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.ingest.decoding import clean_text
from harry_mcp.ingest.fetched import Largest
from harry_mcp.ingest.fetching import fetch_page
from harry_mcp.ingest.sources import SourceItem, Unreadable, expand, read_each
from harry_mcp.settings import IngestSection


def largest_of(settings: IngestSection) -> Largest:
    return Largest(other=settings.file_bytes, pdf=settings.pdf_bytes)


def items_of(target: str, settings: IngestSection, *, allow_private: bool = False) -> Iterator[SourceItem]:
    """What there is to read under a target. Raises SourceError when that is nothing."""
    largest = largest_of(settings)
    return expand(target, fetch=partial(fetch_page, largest=largest, allow_private=allow_private), largest=largest)


def read_all(items: Iterable[SourceItem], topic: str = "") -> Iterator[SourceDocument | Unreadable]:
    """Each item read, under the topic if there is one."""
    for read in read_each(items):
        yield replace(read, topic=topic) if topic and isinstance(read, SourceDocument) else read


def topic_of(words: str) -> str:
    """A topic in letters that can be asked for."""
    return " ".join(clean_text(words).split())
