"""The template context: short, and nothing said twice."""

from __future__ import annotations

import pytest

from harry_mcp.domain.documents import Chunk, SourceDocument
from harry_mcp.ingest.contextual import contextualise

pytestmark = pytest.mark.promise("ING-4")


def _text(title: str, path: tuple[str, ...], text: str) -> str:
    document = SourceDocument(source="s", title=title, text=text)
    contextual = contextualise(document, Chunk(ordinal=0, text=text, heading_path=path))
    assert contextual.chunk.text == text  # what is shown has no preamble
    return contextual.contextual_text


def test_title_and_path_stand_before_the_text() -> None:
    assert _text("Guide", ("Install", "Linux"), "Run it.") == "Guide\nInstall > Linux\n\nRun it."
    assert _text("Guide", (), "Run it.") == "Guide\n\nRun it."


def test_what_the_text_or_the_title_says_is_not_repeated() -> None:
    assert _text("Guide", ("Install", "Linux"), "### `Linux`\n\nRun.") == "Guide\nInstall\n\n### `Linux`\n\nRun."
    assert _text("Guide", ("guide:", "A"), "Run.") == "Guide\nA\n\nRun."
    assert _text("Guide", ("A",), "# Guide\n\nA\n---\n\nRun.") == "# Guide\n\nA\n---\n\nRun."


def test_the_preamble_is_short_and_keeps_the_innermost_heading() -> None:
    path = tuple(f"Heading number {n} with some words" for n in range(20))
    title_line, path_line = _text("long title " * 50, path, "Run.").split("\n\n")[0].split("\n")
    assert len(title_line) <= 161
    assert len(path_line) <= 201
    assert path_line.endswith(path[-1])
