"""What a crawl knows of an address, and how an address can end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Outcome(StrEnum):
    """How an address ended in a run; every address that was met has exactly one."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    REDIRECTED = "redirected"
    GONE = "gone"
    REFUSED = "refused"
    FAILED = "failed"
    # Decided to be stored: becomes new, changed or unchanged by what the database did with the document.
    STORED = "stored"


class Reason(StrEnum):
    """Why an address was refused, is gone, failed or counts as a duplicate."""

    # Refused without being asked for
    PRIVATE = "private"
    OFF_SITE = "off_site"
    PREFIX = "prefix"
    DEPTH = "depth"
    PAGES = "pages"
    BYTES = "bytes"
    NOFOLLOW = "nofollow"
    NOT_TEXT = "not_text"
    TRAP = "trap"
    ROBOTS = "robots"
    # Refused for what it answered
    NOINDEX = "noindex"
    LOGIN = "login"
    ERROR_PAGE = "error_page"
    EMPTY = "empty"
    # Gone (when it was stored) or failed
    NOT_FOUND = "not_found"
    GONE = "gone"
    SOFT_404 = "soft_404"
    UNLINKED = "unlinked"
    MOVED = "moved"
    # Failed
    FORBIDDEN = "forbidden"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    STATUS = "status"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    UNREACHABLE = "unreachable"
    CIRCLE = "circle"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    UNREADABLE = "unreadable"
    NOT_STORED = "not_stored"
    # Duplicates
    SAME_CONTENT = "same_content"
    CANONICAL = "canonical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """An address as it is met: on a page, in a sitemap or in llms.txt. ``reason`` is "" or why it is refused."""

    url: str
    depth: int
    hops: int = 0
    lastmod: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """An address whose turn it is, and what is known of it from the last time.

    ``stored``: a document of this address is in the knowledge base; ``shown``: and it was not archived. ``current``:
    what is known would be made the same way now, so that "not modified" is answer enough.
    """

    id: int
    url: str
    depth: int
    hops: int
    outcome: str
    reason: str
    target: str
    fingerprint: str
    etag: str
    last_modified: str
    stands_alone: bool
    stored: bool
    shown: bool
    current: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How pages are stored now: cut by this ``recipe``, under this ``topic``. ``fresh``: all of them anew."""

    recipe: str = ""
    topic: str = ""
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class StoredPages:
    """The pages of a crawl that are in the knowledge base, and how many of them are as they would be stored now."""

    pages: int
    current: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How an address ended, as it is written down."""

    id: int
    outcome: Outcome
    reason: str = ""
    detail: str = ""
    target: str = ""
    status: int = 0
    size: int = 0
    etag: str = ""
    last_modified: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """An address at the end of a run."""

    id: int
    url: str
    waiting: bool
    outcome: str
    reason: str
    detail: str
    target: str
    status: int
    bytes: int
    fingerprint: str
    stored: bool


@dataclass(frozen=True, slots=True)
class CrawlState:
    """A crawl and its present run."""

    id: int
    run: int
    finished: bool
    seeded: bool
    warnings: list[str]
