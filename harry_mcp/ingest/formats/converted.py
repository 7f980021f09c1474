"""What every converter of a format hands back, and the sentences about files that cannot be read."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harry_mcp.errors import SourceError

LARGEST_TEXT = 30_000_000  # characters of Markdown from one file: more is no document, and it is held in memory
_WORDS = re.compile(r"[^\W\d_]{2}")
# What programs write as a title when nobody gave one, or from a file's name
_NO_TITLE = re.compile(
    r"\s*(?:untitled|untitled document|untitled presentation|document ?\d*|presentation ?\d*|powerpoint presentation"
    r"|pr[äa]sentation|slide ?\d*|microsoft word\b.*|microsoft powerpoint\b.*|title|unspecified|anonymous|none|null"
    r"|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|odt|html?|rtf|pages|fm|book))\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A file as Markdown, and what it says of itself; "" for what it does not say."""

    text: str
    title: str = ""
    language: str = ""


def declared_title(words: str | None) -> str:
    """A title from a file's metadata, "" when it is not words but what a program puts there."""
    title = " ".join((words or "").split())
    return title if _WORDS.search(title) and not _NO_TITLE.fullmatch(title) else ""


def cell(value: str) -> str:
    """Words that can stand in a cell of a Markdown table."""
    return " ".join(value.split()).replace("|", "\\|")


def table(rows: list[list[str]]) -> str:
    """Rows of words as a Markdown table; the first is its header. Empty rows and columns are left out."""
    filled = [[cell(value) for value in row] for row in rows if any(value.strip() for value in row)]
    width = max((len(row) for row in filled), default=0)
    even = [row + [""] * (width - len(row)) for row in filled]
    used = [column for column in range(width) if any(row[column] for row in even)]
    lines = ["| " + " | ".join(row[column] for column in used) + " |" for row in even]
    return "\n".join([lines[0], "|" + " --- |" * len(used), *lines[1:]]) if lines else ""


def damaged(source: str, kind: str) -> SourceError:
    return SourceError(
        f"{source} cannot be read: it is damaged or is not {kind}; open it in its program and save it again."
    )


def protected(source: str) -> SourceError:
    return SourceError(f"{source} cannot be read: a password protects it; save a copy without one and bring that in.")
