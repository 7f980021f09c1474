"""PDF: what its layout means becomes Markdown, hostile files cost a sentence, and memory does not grow with pages."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import SourceError
from harry_mcp.ingest.formats import pdf as pdf_module
from harry_mcp.ingest.formats.converted import declared_title
from harry_mcp.ingest.formats.pdf import convert_pdf
from harry_mcp.ingest.formats.pdf_layout import Layout
from harry_mcp.ingest.formats.pdf_lines import Line, Page, Survey
from harry_mcp.ingest.formats.readers import read_pdf
from harry_mcp.ingest.sources import Unreadable, expand, read_each
from tests.ingest.formats.pdfs import HEIGHT, both, lines, pdf

pytestmark = pytest.mark.promise("ING-1")

PROSE = [
    "The pump has a valve that opens when the pressure in the",
    "pipe is higher than two bar. It closes by itself after some",
    "seconds. A well-known fault is a valve that stays open, and",
    "then the whole sys-",
    "tem must be emptied before anybody works on it.",
]


def _guide(canvas: Any) -> None:
    lines("Guide to Pumps", size=24, font="Helvetica-Bold", top=760)(canvas)
    lines("Safety first", size=16, font="Helvetica-Bold", top=700)(canvas)
    lines(*PROSE, top=675)(canvas)
    lines("A second paragraph stands after a gap.", top=590)(canvas)
    lines("• Close the valve", "• Wait for", top=560)(canvas)
    lines("ten seconds", top=531.4, left=79)(canvas)
    lines("1. Open it", "2. Look", top=500)(canvas)
    lines("def pump(bar):", "    return bar * 2", size=9, font="Courier", top=450)(canvas)
    lines("x = pump(1)", size=9, font="Courier", top=415)(canvas)
    lines("Values", size=16, font="Helvetica-Bold", top=380)(canvas)
    for row, cells in enumerate([("Name", "Bar", "Note"), ("low", "1", "for tests"), ("high", "20", "a|b")]):
        for column, words in enumerate(cells):
            lines(words, top=350 - 15 * row, left=72 + 120 * column)(canvas)
    lines("# not a heading", top=280)(canvas)


def test_what_the_layout_means_survives() -> None:
    document = read_pdf(pdf([_guide], title="Untitled"), source="file:///x/guide.pdf")
    assert document.title == "Guide to Pumps"
    assert document.language == "en"
    assert document.text == (
        "# Guide to Pumps\n\n## Safety first\n\n"
        "The pump has a valve that opens when the pressure in the pipe is higher than two bar. It closes by itself "
        "after some seconds. A well-known fault is a valve that stays open, and then the whole system must be emptied "
        "before anybody works on it.\n\n"
        "A second paragraph stands after a gap.\n\n"
        "- Close the valve\n- Wait for ten seconds\n1. Open it\n2. Look\n\n"
        "```\ndef pump(bar):\n    return bar * 2\n\nx = pump(1)\n```\n\n"
        "## Values\n\n| Name | Bar | Note |\n| --- | --- | --- |\n| low | 1 | for tests |\n| high | 20 | a\\|b |\n\n"
        "\\# not a heading"
    )


def test_running_headers_and_footers_go_and_a_paragraph_goes_on_over_the_page() -> None:
    def page(number: int, canvas: Any) -> None:
        lines("The Manual of Pumps", size=9, top=810)(canvas)
        lines(f"Chapter {1 + number // 4}: Words  {number + 1}", size=9, top=795)(canvas)
        lines(f"- {number + 1} -", top=30)(canvas)
        lines(f"and so page {number} goes on", "with words that end", top=740)(canvas)

    text = convert_pdf(pdf([partial(page, number) for number in range(8)]), "s").text
    assert "Manual" not in text
    assert "Chapter" not in text
    assert text.count("\n") == 0
    assert text.startswith("and so page 0 goes on with words that end and so page 1 goes on")


def test_the_outline_makes_headings_of_lines_that_look_like_text() -> None:
    def draw(canvas: Any) -> None:
        canvas.bookmarkPage("a")
        canvas.bookmarkPage("b")
        canvas.addOutlineEntry("1 Start here", "a", 0)
        canvas.addOutlineEntry("1.1 Details of it", "b", 1)
        lines("1 Start here", "Words about it that are no heading.", "1.1 Details of it", "More words.")(canvas)

    text = convert_pdf(pdf([draw]), "s").text
    assert text == "# 1 Start here\n\nWords about it that are no heading.\n\n## 1.1 Details of it\n\nMore words."


def test_columns_are_read_one_after_the_other() -> None:
    left = lines(*[f"left column line {number} of some words" for number in range(5)], left=60)
    right = lines(*[f"right column line {number} of some words" for number in range(5)], left=320)
    text = convert_pdf(pdf([both(left, right)]), "s").text
    assert text.index("left column line 4") < text.index("right column line 0")
    assert "|" not in text


def test_a_table_of_contents_is_left_out() -> None:
    toc = lines("Contents", "Install ........................ 3", "Remove . . . . . . . . . . . . . 12")
    text = convert_pdf(pdf([both(toc, lines("Words of the page.", top=400))]), "s").text
    assert "Install" not in text
    assert "Words of the page." in text


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("How to pump", "How to pump"),
        ("Microsoft Word - draft7.docx", ""),
        ("untitled", ""),
        ("report_final.indd", ""),
        ("12345", ""),
        (None, ""),
    ],
)
def test_a_title_that_a_program_wrote_is_none(title: str | None, kept: str) -> None:
    assert declared_title(title) == kept


def test_a_title_of_words_wins_and_the_file_name_is_the_last_resort() -> None:
    page = lines("Only some words of one size.")
    assert read_pdf(pdf([page], title="How to pump"), source="file:///x/a.pdf").title == "How to pump"
    assert read_pdf(pdf([page]), source="file:///x/pump-care.pdf").title == "pump care"


def _scan(canvas: Any) -> None:
    from PIL import Image
    from reportlab.lib.utils import ImageReader  # pyright: ignore

    canvas.drawImage(ImageReader(Image.new("RGB", (200, 200), "grey")), 50, 50, 400, 400)  # pyright: ignore


@pytest.mark.promise("ING-5")
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (pdf([lines("secret words")], password="hush"), "a password protects it; save a copy without one"),
        (b"", "it is damaged or is not a PDF"),
        (b"%PDF-1.7\nnothing more", "it is damaged or is not a PDF"),
        (b"<html>not found</html>", "it is damaged or is not a PDF"),
        (pdf([_scan, _scan]), "it is a scan; run OCR on it (ocrmypdf)"),
        (pdf([lambda canvas: None]), "holds no text"),
    ],
    ids=["password", "empty", "cut", "html", "scan", "blank"],
)
def test_what_cannot_be_read_costs_one_sentence_that_says_what_to_do(data: bytes, sentence: str) -> None:
    with pytest.raises(SourceError) as raised:
        read_pdf(data, source="file:///x/bad.pdf")
    assert str(raised.value).startswith("file:///x/bad.pdf ")
    assert sentence in str(raised.value)


@pytest.mark.promise("ING-5")
def test_one_bad_file_costs_one_line_of_the_report(tmp_path: Path) -> None:
    good = pdf([lines("Good words of a page.")])
    (tmp_path / "a.pdf").write_bytes(good)
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "c.pdf").write_bytes(good)
    found = list(read_each(expand(str(tmp_path))))
    assert [type(each) for each in found] == [SourceDocument, Unreadable, SourceDocument]


@pytest.mark.promise("ING-5")
def test_damage_anywhere_is_a_sentence_or_a_text() -> None:
    whole = pdf([_guide], title="Pumps")
    for place in range(0, len(whole), len(whole) // 12):
        for broken in (whole[:place], whole[:place] + b"\xff\x00[<<" * 9 + whole[place + 45 :]):
            with suppress(SourceError):  # and nothing else
                assert read_pdf(broken, source="s").text


@pytest.mark.promise("ING-5")
@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("import os; os.kill(os.getpid(), 11)", "the PDF reader failed on it"),
        ("import time; time.sleep(60)", "one of its pages takes too long"),
    ],
    ids=["crash", "hang"],
)
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_crash_or_a_hang_of_the_native_library_stays_in_its_process(
    program: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(program, encoding="utf-8")
    monkeypatch.setattr(pdf_module, "_WORKER", worker)
    before = set(psutil.Process().children())
    started = time.perf_counter()
    with pytest.raises(SourceError, match=sentence):
        convert_pdf(pdf([lines("words")]), "s", patience=0.5)
    assert time.perf_counter() - started < 10
    assert not set(psutil.Process().children()) - before


@pytest.mark.promise("ING-5")
def test_a_very_long_pdf_is_read_in_bounded_memory() -> None:
    def page(number: int, canvas: Any) -> None:
        lines(*[f"Line {line} of page {number} with some words more." for line in range(40)], top=760)(canvas)

    data = pdf([partial(page, number) for number in range(1000)])
    with watched() as peak:
        text = convert_pdf(data, "s").text
    assert "Line 39 of page 999 with some words more." in text
    assert 0 < peak.worker < 100_000_000
    assert peak.grown < 10 * len(text) + 30_000_000


@dataclass
class _Peak:
    """Bytes: the most that the worker held, and by how much this process grew."""

    worker: int = 0
    grown: int = 0


@contextmanager
def watched() -> Generator[_Peak, None, None]:
    peak, ended, own = _Peak(), threading.Event(), psutil.Process()
    before = own.memory_info().rss

    def watch() -> None:
        while not ended.wait(0.01):
            peak.grown = max(peak.grown, own.memory_info().rss - before)
            for child in own.children():
                with suppress(psutil.Error):
                    if any(part.endswith("pdf_worker.py") for part in child.cmdline()):
                        peak.worker = max(peak.worker, child.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


_LINES = st.builds(
    Line,
    text=st.text(alphabet="abc •-1.)#|`\ufffe", min_size=1, max_size=12),
    left=st.floats(0, 500),
    baseline=st.floats(0, HEIGHT),
    right=st.floats(0, 600),
    size=st.sampled_from([0.0, 9.0, 11.0, 16.0]),
    bold=st.booleans(),
    mono=st.booleans(),
    cells=st.sampled_from([(), ((10.0, 20.0, "ab"), (50.0, 60.0, "cd"))]),
)


@given(st.lists(st.lists(_LINES, max_size=8), max_size=4))
@settings(max_examples=150, deadline=None)
def test_any_lines_in_any_place_become_text(pages: list[list[Line]]) -> None:
    survey = Survey()
    read = [Page(number, HEIGHT, tuple(page)) for number, page in enumerate(pages)]
    for page in read:
        survey.see(page)
    layout = Layout(survey)
    for page in read:
        layout.add(page)
    letters = "".join(line.text for page in read for line in survey.body_lines(page) if not line.cells)
    assert layout.text().count("c") >= letters.count("c")
