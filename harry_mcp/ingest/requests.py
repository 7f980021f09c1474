"""What may be asked of a server to bring in, and what was meant by it."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from harry_mcp.domain.ingestions import IngestionRequest
from harry_mcp.errors import InputError
from harry_mcp.ingest.addresses import canonical_address
from harry_mcp.ingest.crawl.crawler import CrawlRequest, plan
from harry_mcp.ingest.sources import file_of
from harry_mcp.ingest.targets import topic_of
from harry_mcp.settings import Settings

_LONGEST = 2000  # characters: no path and no address that is stored is longer


def checked(request: IngestionRequest, settings: Settings) -> IngestionRequest:
    """The request with its source in the one spelling that it is known by. Reads nothing but whether a path is there.

    Raises:
        InputError: it is neither an address nor an absolute path, or not one that this server reads.
        SourceError: there is nothing there, or nothing that can be crawled.
    """
    source = request.source.strip()
    if not source or len(source) > _LONGEST or not source.isprintable():
        raise InputError(
            f"source must be a web address or an absolute path of at most {_LONGEST:,} characters. Nothing was read."
        )
    topic = topic_of(request.topic)
    if source.lower().startswith(("http://", "https://")):
        if not request.crawl:
            _no_limits_of_a_crawl(request)
            return IngestionRequest(source=canonical_address(source), topic=topic)
        scope = plan(CrawlRequest(url=source, prefix=request.prefix), settings.crawl)
        return IngestionRequest(source=scope.start, crawl=True, topic=topic, pages=request.pages, prefix=scope.prefix)
    if request.crawl:
        raise InputError("A crawl starts at a web address: pass source as http:// or https://. Nothing was read.")
    _no_limits_of_a_crawl(request)
    return IngestionRequest(source=_path(source, settings), topic=topic)


def _no_limits_of_a_crawl(request: IngestionRequest) -> None:
    if request.pages or request.prefix.strip("/ "):
        raise InputError("pages and prefix are for a whole site: pass crawl true with them, or leave them out.")


def _path(source: str, settings: Settings) -> str:
    if not settings.ingest.local_paths:
        raise InputError("This server reads web addresses only (HARRY_INGEST__LOCAL_PATHS). Pass an http(s) address.")
    path = file_of(source) or Path(source).expanduser()
    if not path.is_absolute():
        raise InputError(
            f"{source[:200]!r} is neither a web address nor an absolute path. Pass an address with http:// or "
            "https://, or the whole path of a file or folder on the machine of this server."
        )
    normal = os.path.normpath(path)
    if not os.path.lexists(normal) and not glob.has_magic(normal):
        raise InputError(f"There is no file or folder {normal} on the machine of this server.")
    return normal


def planned(request: IngestionRequest, settings: Settings) -> str:
    """What will be done, in a sentence."""
    if request.crawl:
        under = f" under {request.prefix}" if request.prefix.strip("/") else ""
        pages = request.pages or settings.crawl.pages
        most = f"{pages:,} pages" if pages > 1 else "one page"
        return f"Read the site of {request.source}{under}, at most {most}, as its robots.txt allows."
    if request.source.startswith(("http://", "https://")):
        return f"Read the page {request.source}."
    what = "all documents" if Path(request.source).is_dir() or glob.has_magic(request.source) else "the file"
    return f"Read {what} {'under ' if what != 'the file' else ''}{request.source}."
