"""The corpus of a golden set as documents for the real pipeline, and the golden id behind each id of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice

from harry_mcp.domain.documents import Chunk, SourceDocument
from harry_mcp.evals.golden import CorpusRow, GoldenSet
from harry_mcp.ingest.ingester import PreparedDocument
from harry_mcp.ingest.preparing import Preparer, with_context
from harry_mcp.ingest.readers import read_markdown
from harry_mcp.storage.chunk_index import chunk_public_ids

_DOCUMENTS_A_BATCH = 64
_PLAIN = "/plain"


class GoldenCorpus:
    """A corpus in two forms. ``names`` holds the golden id of each document (or ready-made chunk) handed out so far."""

    def __init__(self, golden: GoldenSet) -> None:
        self._golden = golden
        self._rows: dict[str, list[CorpusRow]] = {}
        self.names: dict[str, str] = {}

    def documents(self) -> Iterator[SourceDocument | PreparedDocument]:
        """What is ingested: documents, or ready-made chunks with their context."""
        if not self._golden.ready_made:
            for row in self._golden.corpus:
                document = _document(row)
                self.names[document.id] = row.id
                yield document
            return
        ordered = sorted(self._golden.corpus, key=_home)
        for doc_id, group in groupby(ordered, key=_home):
            rows = list(group)
            prepared = _ready_made(doc_id, rows)
            self._rows[prepared.document.id] = rows
            self._named(prepared)
            yield prepared

    async def plain(self, preparer: Preparer) -> list[PreparedDocument]:
        """The same, cut at the same places, but each chunk indexed as its bare text: no title, headings or context.

        Raises:
            ProviderError: the embedding model, which cuts by meaning, failed.
        """
        found: list[PreparedDocument] = []
        documents = self.documents()
        while batch := list(islice(documents, _DOCUMENTS_A_BATCH)):
            cut = iter(await preparer.cut([item for item in batch if isinstance(item, SourceDocument)]))
            found += [_bare(next(cut) if isinstance(item, SourceDocument) else item) for item in batch]
        if self._golden.ready_made:
            for prepared in found:
                self._named(prepared)
        return found

    def _named(self, prepared: PreparedDocument) -> None:
        rows = self._rows[prepared.document.id]
        for row, public_id in zip(rows, chunk_public_ids(prepared.document.id, prepared.chunks), strict=True):
            self.names[public_id] = row.id


def _home(row: CorpusRow) -> str:
    return row.doc_id or row.id


_SOURCE = "golden:"


def row_of(item: SourceDocument | PreparedDocument) -> str:
    """The golden id of the document (not of its ready-made chunks) that was handed out."""
    document = item if isinstance(item, SourceDocument) else item.document
    return document.source.removeprefix(_SOURCE)


def _source(row_id: str) -> str:
    return _SOURCE + row_id


def _document(row: CorpusRow) -> SourceDocument:
    read = read_markdown(row.text, source=_source(row.id), title=row.title or row.id)
    return SourceDocument(
        source=_source(row.id), title=row.title or row.id, text=read.text, url=row.url, language=read.language
    )


def _ready_made(doc_id: str, rows: Sequence[CorpusRow]) -> PreparedDocument:
    document = SourceDocument(
        source=_source(doc_id),
        title=rows[0].title or doc_id,
        text="\n\n".join(row.text for row in rows),
        url=rows[0].url,
        language="en",
    )
    return with_context(document, list(_spans(rows)), "ready-made")


def _spans(rows: Sequence[CorpusRow]) -> Iterator[Chunk]:
    start = 0
    for ordinal, row in enumerate(rows):
        yield Chunk(ordinal=ordinal, text=row.text, start=start, end=start + len(row.text))
        start += len(row.text) + 2


def _bare(prepared: PreparedDocument) -> PreparedDocument:
    chunks = tuple(replace(item, contextual_text=item.chunk.text) for item in prepared.chunks)
    # Another recipe, so that the contextual form is written over it afterwards.
    return replace(prepared, chunks=chunks, recipe=prepared.recipe + _PLAIN)
