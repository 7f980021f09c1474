"""Chunks: nothing lost, nothing cut that fits, headings known, and linear time."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harry_mcp.domain.documents import Chunk
from harry_mcp.ingest.chunking import chunk_markdown

pytestmark = pytest.mark.promise("ING-3")

_WORDS = st.text(alphabet="abc déß中文。！ไทย👩‍👧́.,:;?!-*_`#|>[]()<&\\ \t", min_size=0, max_size=300)
_LINES = st.lists(_WORDS, max_size=6).map("\n".join)
_MANY = st.lists(_WORDS, max_size=9)


def _indented(lines: str, mark: str) -> str:
    return "\n".join(mark + line for line in lines.split("\n"))


def _nested(items: list[str]) -> str:
    return "\n".join(f"{'  ' * depth}1. {item}" for depth, item in enumerate(items))


_BLOCKS = st.one_of(
    _WORDS,
    st.tuples(st.integers(1, 6), _WORDS).map(lambda pair: f"{'#' * pair[0]} {pair[1]}"),
    _WORDS.map(lambda words: f"{words}\n===="),
    _LINES.map(lambda lines: f"```py\n{lines}\n```"),
    _LINES.map(lambda lines: f"~~~~\n{lines}"),
    _LINES.map(lambda lines: _indented(lines, "    ")),
    _LINES.map(lambda lines: _indented(lines, "> ")),
    _MANY.map(lambda rows: "| a | b |\n|---|---|\n" + "\n".join(f"| {row} |" for row in rows)),
    _MANY.map(lambda items: "\n".join(f"- {item}" for item in items)),
    _MANY.map(_nested),
    st.just("[a]: https://example.org"),
    st.just("<div>\nx\n</div>"),
    st.just("\n\n\n"),
)
DOCUMENTS = st.lists(_BLOCKS, max_size=14).map("\n\n".join)

HOSTILE = [
    pytest.param("word " * 1_000_000, id="one line"),
    pytest.param("x" * 5_000_000, id="no place to cut"),
    pytest.param("# h\n" * 100_000, id="headings"),
    pytest.param("".join("  " * n + "- a\n" for n in range(200)), id="nested lists"),
    pytest.param(">" * 5000 + " x", id="nested quotes"),
    pytest.param("```\n" + "x = 1\n" * 200_000, id="open fence"),
    pytest.param("a\n" + "\n" * 500_000 + "b", id="blank lines"),
    pytest.param("a" + "\u0301" * 50_000, id="one endless cluster"),
]


def check(text: str, *, title: str = "", target: int = 900, minimum: int = 120, maximum: int = 1400) -> list[Chunk]:
    """The chunks, after the promises that hold for every text."""
    chunks = chunk_markdown(text, title=title, target=target, minimum=minimum, maximum=maximum)
    check_chunks(text, chunks, maximum)
    return chunks


def check_chunks(text: str, chunks: list[Chunk], maximum: int) -> None:
    position = 0
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.text.strip()
        assert len(chunk.text) <= maximum
        assert chunk.start >= position
        assert not text[position : chunk.start].strip()
        assert text[chunk.start : chunk.end] in chunk.text
        position = chunk.end
    assert not text[position:].strip()


@given(DOCUMENTS)
@settings(max_examples=150, deadline=None)
@example("- > - ```\n  x")
@example("#\n\n##\n\n# #")
def test_every_character_is_in_one_chunk(text: str) -> None:
    assert check(text) == check(text)
    check(text, target=60, minimum=20, maximum=90)


@given(st.text(alphabet=st.characters(), max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_at_all_can_be_cut(text: str) -> None:
    check(text, target=30, minimum=5, maximum=40)


@pytest.mark.parametrize("folder", ["techqa", "plausible", "hubspot_agent_skills"])
def test_real_documents(shared_data: Path, folder: str) -> None:
    for line in (shared_data / folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        check(row["text"], title=row["title"])


def test_headings_make_the_path_and_the_title_is_left_out() -> None:
    body = "Words about it. " * 20
    text = f"# Guide\n\n{body}\n\n## Install\n\n{body}\n\n### On `Linux`\n\n{body}\n\n## Use [it](x)\n\n{body}"
    chunks = check(text, title="guide")
    assert [chunk.heading_path for chunk in chunks] == [
        (),
        ("Install",),
        ("Install", "On Linux"),
        ("Use it",),
    ]
    assert chunks[2].text.startswith("### On `Linux`")
    assert check(text, title="Another")[1].heading_path == ("Guide", "Install")


def test_two_first_level_headings_are_both_kept() -> None:
    body = "Words about it. " * 20
    chunks = check(f"# One\n\n{body}\n\n# Two\n\n{body}", title="One")
    assert [chunk.heading_path for chunk in chunks] == [("One",), ("Two",)]


def test_a_heading_in_code_is_no_heading() -> None:
    chunks = check("```sh\n# comment\n```\n\ntext")
    assert [chunk.heading_path for chunk in chunks] == [()]


def test_a_heading_stays_with_what_it_announces() -> None:
    body = "Words about it. " * 20
    chunks = check(f"## Parent\n\n### Child\n\n{body}\n\n{body}\n\n{body}")
    assert chunks[0].text.startswith("## Parent\n\n### Child\n\nWords")
    assert {chunk.heading_path for chunk in chunks} == {("Parent", "Child")}


def test_tiny_siblings_are_joined_and_their_headings_stay_readable() -> None:
    text = "## Limits\n\n### Rows\n\nTen.\n\n### Columns\n\nTwenty.\n\n## Other\n\n" + "Words. " * 60
    first, second = check(text)
    assert first.heading_path == ("Limits",)
    assert "### Rows" in first.text
    assert "### Columns" in first.text
    assert second.heading_path == ("Other",)


def test_a_tiny_section_does_not_join_a_stranger() -> None:
    body = "Words about it. " * 20
    text = f"## A\n\n{body}\n\n### Deep\n\n#### Deeper\n\nTiny.\n\n## B\n\n{body}"
    assert [chunk.heading_path for chunk in check(text)] == [("A",), ("A", "Deep", "Deeper"), ("B",)]


def test_pieces_of_one_section_are_about_equal() -> None:
    chunks = check("\n\n".join(f"Paragraph {n} with some words in it." * 3 for n in range(20)))
    sizes = [len(chunk.text) for chunk in chunks]
    assert max(sizes) <= 900
    assert min(sizes) > 0.6 * max(sizes)


def test_code_and_tables_that_fit_are_whole() -> None:
    code = "```python\n" + "\n\n".join(f"def f{n}():\n    return {n}" for n in range(35)) + "\n```"
    table = "| a | b |\n| --- | --- |\n" + "\n".join(f"| {n} | value {n} |" for n in range(60))
    text = f"# T\n\n{'Words. ' * 90}\n\n{code}\n\n{'Words. ' * 90}\n\n{table}\n\nEnd."
    assert 900 < len(code) < 1400
    assert 900 < len(table) < 1400
    texts = [chunk.text for chunk in check(text)]
    assert sum(code in each for each in texts) == 1
    assert sum(table in each for each in texts) == 1


def test_long_code_is_cut_between_lines_and_keeps_its_fence() -> None:
    lines = [f"def f{n}(x):\n    return x + {n}\n" for n in range(200)]
    text = "```python\n" + "\n".join(lines) + "\n```\n"
    chunks = check(text)
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.text.startswith("```python\ndef ")
        assert chunk.text.endswith("\n```")
        assert chunk.text.count("def ") == chunk.text.count("return ")


def test_a_long_table_repeats_its_header() -> None:
    head = "| name | value |\n| --- | --- |\n"
    text = head + "\n".join(f"| row {n} | {n * 7} |" for n in range(300))
    chunks = check(text)
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.text.startswith(head)
        assert all(line.startswith("| ") and line.endswith(" |") for line in chunk.text.split("\n"))
    assert chunks[1].text == head + text[chunks[1].start : chunks[1].end]


@pytest.mark.parametrize(
    ("sentence", "ends"),
    [
        ("This is one sentence about Dr. Who and e.g. Other things. ", "."),
        ("これは一つの文章です。", "。"),
        ("这是一个句子吗？", "？"),
    ],
)
def test_a_long_paragraph_is_cut_at_sentences(sentence: str, ends: str) -> None:
    for chunk in check(sentence * 200):
        assert chunk.text.endswith(ends)
        assert not chunk.text.endswith(("Dr.", "e.g."))


def test_thai_is_cut_at_its_spaces_and_clusters_stay_whole() -> None:
    phrase = "ข้อความภาษาไทยที่ไม่มีช่องว่าง"
    assert all(chunk.text.endswith("ง") for chunk in check(" ".join([phrase] * 200)))
    family = "👨‍👩‍👧‍👦"
    assert all(set(chunk.text.split(family)) == {""} for chunk in check(family * 1000))
    assert all(chunk.text.startswith("e\u0301") for chunk in check("e\u0301" * 3000))


def test_lists_are_cut_between_items_and_the_lead_in_goes_along() -> None:
    items = "\n".join(f"- Item {n} has some words that say what it is for." for n in range(60))
    chunks = check(f"{'Words. ' * 100}\n\nDo this:\n\n{items}")
    assert all(chunk.text.startswith(("Words", "Do this:", "- Item")) for chunk in chunks)
    assert not any(chunk.text.endswith("Do this:") for chunk in chunks)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_take_seconds(text: str) -> None:
    started = time.perf_counter()
    check(text)
    assert time.perf_counter() - started < 30
