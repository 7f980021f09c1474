"""Work that brings documents in and takes longer than a call: what was asked for, how far it is, how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple


class IngestionState(StrEnum):
    """``interrupted``: its process died or was stopped; asked for again, it goes on where it was."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionRequest:
    """What to bring in. ``source`` is a canonical address, or an absolute path of a file, a folder or a glob.

    ``crawl`` takes the whole site, under the path ``prefix``, of at most ``pages`` pages (0: as the settings say).
    """

    source: str
    crawl: bool = False
    topic: str = ""
    pages: int = 0
    prefix: str = "/"


class Problem(NamedTuple):
    """A document that is not in the knowledge base as it should be."""

    kind: Literal["failed", "gone", "refused"]
    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionTally:
    """How far an ingestion is: documents, or addresses of a site, by how they ended.

    ``total`` is -1 while nobody knows how many there are; ``spent`` is in dollars, for contexts; ``doing`` says what
    is being worked on; ``problems`` holds the first ones.
    """

    done: int = 0
    total: int = -1
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    duplicates: int = 0
    gone: int = 0
    refused: int = 0
    failed: int = 0
    chunks: int = 0
    spent: float = 0.0
    doing: str = ""
    problems: Sequence[Problem] = ()
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingestion(IngestionTally):
    """An ingestion as any process sees it. ``attempts`` counts the processes that took it up."""

    id: str
    source: str
    crawl: bool
    prefix: str
    topic: str
    pages: int
    state: IngestionState
    attempts: int
    error: str
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | None
