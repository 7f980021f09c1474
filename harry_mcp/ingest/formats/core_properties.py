"""What an Office file says of itself: title and language, from ``docProps/core.xml``."""

from __future__ import annotations

import zipfile

from harry_mcp.ingest.formats.converted import declared_title

_DC = "{http://purl.org/dc/elements/1.1/}"


def core_properties(archive: zipfile.ZipFile) -> tuple[str, str]:
    """(title, language), "" for what is not said or cannot be read."""
    from defusedxml import ElementTree
    from defusedxml.common import DefusedXmlException

    try:
        root = ElementTree.fromstring(archive.read("docProps/core.xml"))
    except (KeyError, ElementTree.ParseError, DefusedXmlException):
        return "", ""
    return declared_title(root.findtext(f"{_DC}title")), (root.findtext(f"{_DC}language") or "").strip()
