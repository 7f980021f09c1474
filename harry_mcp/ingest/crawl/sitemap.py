"""Sitemaps (sitemaps.org 0.9): lists of pages and lists of lists, as XML or plain text, plain or gzipped."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, cast

from harry_mcp.errors import SourceError
from harry_mcp.ingest.decoding import decode
from harry_mcp.ingest.unpacking import TooMuch, Unpacker

LARGEST = 50 * 1024 * 1024  # bytes uncompressed, the limit of the protocol
_GZIP = b"\x1f\x8b"
_PARTIAL_DATE = {4: "-01-01", 7: "-01"}
_DECLARATION = re.compile(rb"^\s*<\?xml[^>]*\?>")
_HTML = re.compile(rb"\s*(?:<!doctype html|<html)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listed:
    """A page or another sitemap, and when it changed last if the sitemap says so."""

    url: str
    lastmod: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What one file lists; ``problem`` says why that is not all of it."""

    pages: tuple[Listed, ...] = ()
    sitemaps: tuple[Listed, ...] = ()
    problem: str = ""


def parse_sitemap(body: bytes, *, most: int, largest: int = LARGEST) -> Sitemap:
    """Read a sitemap; at most ``most`` entries of it.

    Raises:
        SourceError: it is none, it is larger than ``largest`` when unpacked, or it declares entities (an XML bomb).
    """
    unpacked, problem = _unpacked(body, largest)
    data = _utf8(unpacked)
    if not data.lstrip().startswith(b"<"):
        return _text(data, most, problem)
    if _HTML.match(data):
        raise SourceError("it is a web page")
    if b"<!DOCTYPE" in data[:4096] or b"<!ENTITY" in data:
        raise SourceError("it declares a document type, which a sitemap has no use for")
    pages: list[Listed] = []
    sitemaps: list[Listed] = []
    try:
        for kind, listed in _entries(data):
            if len(pages) + len(sitemaps) >= most:
                problem = f"more than {most} addresses were wanted of it"
                break
            (sitemaps if kind == "sitemap" else pages).append(listed)
    except SourceError as error:
        if not (pages or sitemaps):
            raise SourceError(problem or str(error)) from error
        problem = problem or str(error)
    return Sitemap(tuple(pages), tuple(sitemaps), problem)


def _utf8(data: bytes) -> bytes:
    """Wide encodings as UTF-8, so that what is looked for in the bytes is found."""
    for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        if data.startswith(mark):
            return _DECLARATION.sub(b"", data.decode("utf-16", errors="replace").encode())
    return data.removeprefix(codecs.BOM_UTF8)


def _unpacked(body: bytes, largest: int) -> tuple[bytes, str]:
    """Unpacked when it is gzip, never more than the limit: a few KB may hold gigabytes. And what is wrong with it."""
    pieces: list[bytes] = []
    problem = ""
    unpacker = Unpacker("gzip" if body.startswith(_GZIP) else "", largest)
    try:
        pieces.extend(unpacker.add(body))
        unpacker.end()
    except TooMuch as error:
        raise SourceError(f"it is larger than {largest // 1024} KB") from error
    except SourceError:
        problem = "its gzip data is broken"
        if not pieces:
            raise SourceError(problem) from None
    data = b"".join(pieces)
    if len(data) > largest:
        raise SourceError(f"it is larger than {largest // 1024} KB")
    return data, problem


def _text(data: bytes, most: int, problem: str) -> Sitemap:
    try:
        lines = [line.strip() for line in decode(data, source="the sitemap").splitlines() if line.strip()]
    except SourceError:
        lines = []
    if not lines or not all(_ADDRESS.fullmatch(line) for line in lines):
        raise SourceError(problem or "it is no sitemap")
    if len(lines) > most:
        problem = f"more than {most} addresses were wanted of it"
    return Sitemap(tuple(Listed(line) for line in lines[:most]), problem=problem)


def _entries(data: bytes) -> Iterator[tuple[str, Listed]]:
    """``url`` and ``sitemap`` elements as they come, whatever namespace they claim; each is forgotten once read."""
    etree = cast(Any, import_module("lxml.etree"))
    parser = etree.XMLPullParser(
        events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )
    root = None
    try:
        for start in range(0, len(data), 65536):
            parser.feed(data[start : start + 65536])
            for event, element in parser.read_events():
                name = _name(element)
                if root is None:
                    root = element
                    if name not in ("urlset", "sitemapindex"):
                        raise SourceError("it is no sitemap")
                if event == "end" and name in ("url", "sitemap") and element.getparent() is root:
                    fields = {_name(child): (child.text or "").strip() for child in element}
                    if fields.get("loc"):
                        yield name, Listed(fields["loc"], parse_lastmod(fields.get("lastmod", "")))
                    element.clear()
                    while element.getprevious() is not None:
                        del root[0]
        parser.close()
    except etree.XMLSyntaxError as error:
        raise SourceError(f"its XML is broken ({str(error).splitlines()[0]})") from error


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def parse_lastmod(text: str) -> datetime | None:
    """A date of the W3C's profile of ISO 8601, in UTC; None for anything else."""
    try:
        found = datetime.fromisoformat(text + _PARTIAL_DATE.get(len(text), ""))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
