"""The text of a web page made fit to be shown: cleaned as any document is, and cut into bounded passages."""

from __future__ import annotations

from harry_mcp.ingest.chunking import chunk_markdown
from harry_mcp.ingest.decoding import clean_text
from harry_mcp.ingest.tidying import tidy_markdown
from harry_mcp.settings import WebSection

# Passages are aimed at this share of the longest one, as chunks of documents are.
_AIM = 0.65
_SHORTEST = 120


class PageText:
    """Nothing invisible, no comments, no tags, no images: what a reader of the page would not see is not passed on."""

    def __init__(self, settings: WebSection) -> None:
        self._longest = settings.chunk_characters

    def line(self, text: str) -> str:
        """A text on one line, such as a title."""
        return " ".join(clean_text(text).split())

    def passages(self, text: str, *, title: str) -> list[str]:
        """The passages of a page in Markdown, in order."""
        tidy = tidy_markdown(clean_text(text))
        chunks = chunk_markdown(
            clean_text(tidy), title=title, target=int(self._longest * _AIM), minimum=_SHORTEST, maximum=self._longest
        )
        return [chunk.text for chunk in chunks]
