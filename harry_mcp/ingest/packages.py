"""The descriptions of the Python packages installed beside this one: real documents that every machine has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import partial
from importlib import metadata

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.ingest.readers import Reader, read_markdown, read_rst, read_text
from harry_mcp.ingest.sources import SourceItem

_READERS: dict[str, Reader] = {"text/markdown": read_markdown, "text/x-rst": read_rst, "text/plain": read_text}
_ADDRESSES = ("documentation", "docs", "homepage", "home", "repository", "source", "sourcecode", "github")


def installed_packages(only: Collection[str] = ()) -> Iterator[SourceItem]:
    """One item for each installed package that describes itself, by name; titled with the package's name.

    ``only`` narrows it to these normalised names, when there are any.
    """
    found: dict[str, metadata.Distribution] = {}
    for distribution in metadata.distributions():
        name = _name(distribution)
        if name:
            found.setdefault(_normalised(name), distribution)
    for name in sorted(found):
        if (not only or name in only) and _description(found[name]):
            source = f"package:{name}"
            yield SourceItem(source=source, read=partial(_read, source, found[name]))


def requirements(package: str) -> set[str]:
    """The normalised names of the packages that an installed one asks for itself, its extras left out."""
    wanted = metadata.requires(package) or []
    return {_normalised(re.split(r"[^\w.-]", line, maxsplit=1)[0]) for line in wanted if "extra ==" not in line}


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(source: str, distribution: metadata.Distribution) -> SourceDocument:
    declared = _header(distribution, "Description-Content-Type").partition(";")[0].strip().lower()
    # Without a declaration the index has always read a description as reST.
    reader = _READERS.get(declared, read_text if declared else read_rst)
    return reader(_description(distribution), source=source, title=_name(distribution), url=_address(distribution))


def _name(distribution: metadata.Distribution) -> str:
    return _header(distribution, "Name")


def _description(distribution: metadata.Distribution) -> str:
    """From the header of old metadata or the body of new; "" for the UNKNOWN that old tools wrote for none."""
    text = _header(distribution, "Description")
    if not text:
        body = distribution.metadata.get_payload() if hasattr(distribution.metadata, "get_payload") else ""  # pyright: ignore
        text = body if isinstance(body, str) else ""
    return "" if text.strip() in ("", "UNKNOWN") else text


def _address(distribution: metadata.Distribution) -> str:
    addresses: dict[str, str] = {}
    for entry in distribution.metadata.get_all("Project-URL") or []:
        label, _, address = str(entry).partition(",")
        addresses.setdefault(re.sub(r"[^a-z]", "", label.lower()), address.strip())
    addresses.setdefault("homepage", _header(distribution, "Home-page"))
    candidates = (addresses.get(label, "") for label in _ADDRESSES)
    return next((address for address in candidates if address.startswith(("https://", "http://"))), "")


def _header(distribution: metadata.Distribution, key: str) -> str:
    values = distribution.metadata.get_all(key) or []
    return str(values[0]) if values else ""
