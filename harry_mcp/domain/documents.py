"""A document, its chunks, and the identities both carry from one ingest to the next."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class DocumentStatus(StrEnum):
    """Where a document stands in curation. Only ``live`` and ``flagged`` ones are ever found."""

    PENDING = "pending"
    LIVE = "live"
    FLAGGED = "flagged"
    ARCHIVED = "archived"
    REJECTED = "rejected"

    @property
    def searchable(self) -> bool:
        return self in (DocumentStatus.LIVE, DocumentStatus.FLAGGED)


_NOTHING_SAID: Mapping[str, str] = {}


def caveats(status: DocumentStatus, reasons: Mapping[str, str] = _NOTHING_SAID) -> tuple[str, ...]:
    """What must be told with an answer from a document in this status, flagged for these reasons (by signal)."""
    if status is DocumentStatus.FLAGGED:
        return ("This document is flagged for review: it may be out of date or wrong.", *reasons.values())
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDocument:
    """A document as a reader hands it over: normalised Markdown and where it came from.

    ``source`` is the canonical address (an https URL, a file URI or any stable name) and is the identity:
    the same source read again is the same document, whatever its text. ``text`` is Markdown with ``\\n`` line
    ends and no control characters; chunk spans count its characters.
    """

    source: str
    title: str
    text: str
    url: str = ""
    topic: str = ""
    language: str = ""

    @property
    def id(self) -> str:
        return document_id(self.source)

    @property
    def content_hash(self) -> str:
        """Changes when anything that is stored or indexed of the document changes."""
        parts = (self.title, self.url, self.topic, self.language, self.text)
        return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def document_id(source: str) -> str:
    """``doc_`` and 20 hex digits of the SHA-256 of the canonical source: 80 bits, the same in every database."""
    return "doc_" + hashlib.sha256(source.encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage of a document before it is stored.

    ``start`` and ``end`` are a half-open character span of the document's text; ``heading_path`` runs from
    the outermost heading to the innermost and leaves the document's own title out.
    """

    ordinal: int
    text: str
    heading_path: tuple[str, ...] = ()
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualChunk:
    """A chunk with its two faces: what is shown, and what is embedded and keyword indexed."""

    chunk: Chunk
    contextual_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A stored document."""

    id: str
    source: str
    title: str
    url: str
    topic: str
    language: str
    status: DocumentStatus
    version: int
    content_hash: str
    characters: int
    chunk_count: int
    created_at: datetime
    updated_at: datetime
    caveats: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True, kw_only=True)
class IngestOutcome:
    """What became of each document of one ingest run, by title; ``failed`` maps a source to the reason,
    ``template_contexts`` one whose passages did not all get the context of the model that was asked for it.

    The one value here that grows: a run fills it while it goes.
    """

    added: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    unchanged: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    template_contexts: dict[str, str] = field(default_factory=dict[str, str])
    chunks_written: int = 0
