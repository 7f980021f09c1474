"""Word, PowerPoint, Excel, CSV and EPUB: what has meaning survives, and an archive made as a trap is refused."""

from __future__ import annotations

import io
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from importlib import import_module
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import SourceError
from harry_mcp.ingest.by_format import MEDIA_TYPES, READERS
from harry_mcp.ingest.fetching import FetchedPage
from harry_mcp.ingest.formats.converted import table
from harry_mcp.ingest.formats.readers import read_csv, read_docx, read_epub, read_pptx, read_xlsx
from harry_mcp.ingest.readers import Reader
from harry_mcp.ingest.sources import expand, read_each

pytestmark = pytest.mark.promise("ING-1")

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def _saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _docx(fill: Callable[[Any], None], title: str = "") -> bytes:
    document = cast(Any, import_module("docx")).Document()
    document.core_properties.title = title
    fill(document)
    return _saved(document)


def _word(document: Any) -> None:
    document.add_heading("Pump care", 0)
    document.add_heading("Safety", 1)
    paragraph = document.add_paragraph("Close the ")
    paragraph.add_run("main").bold = True
    paragraph.add_run(" valve first, before anybody works on the pipe.")
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("two", style="List Bullet")
    document.add_paragraph("first", style="List Number")
    document.styles.add_style("Source Code", 1)
    document.add_paragraph("if open:", style="Source Code")
    document.add_paragraph("    close()", style="Source Code")
    document.add_heading("Values", 2)
    grid = document.add_table(rows=2, cols=2)
    for row, words in enumerate([("Name", "Bar"), ("low", "1|2")]):
        for column, word in enumerate(words):
            grid.cell(row, column).text = word
    document.sections[0].header.paragraphs[0].text = "Running header"


def test_word() -> None:
    document = read_docx(_docx(_word), source="file:///x/a.docx")
    assert document.title == "Pump care"
    assert document.text == (
        "# Pump care\n\n# Safety\n\nClose the **main** valve first, before anybody works on the pipe.\n\n"
        "- one\n- two\n\n1. first\n\n```\nif open:\n    close()\n```\n\n"
        "## Values\n\n| Name | Bar |\n| --- | --- |\n| low | 1\\|2 |"
    )
    assert read_docx(_docx(_word, title="Of its own"), source="s").title == "Of its own"
    assert read_docx(_docx(_word, title="Word Document.docx"), source="s").title == "Pump care"


def _pptx() -> bytes:
    library = cast(Any, import_module("pptx"))
    util = cast(Any, import_module("pptx.util"))
    chart_data = cast(Any, import_module("pptx.chart.data"))
    deck = library.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text = "Pumps in 2026"
    first.placeholders[1].text = "A talk"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Why"
    frame = second.placeholders[1].text_frame
    frame.text = "They leak"
    for level, words in ((1, "at the valve"), (0, "They are loud")):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = words, level
    second.notes_slide.notes_text_frame.text = "Say it slowly."
    third = deck.slides.add_slide(deck.slide_layouts[6])
    low = third.shapes.add_textbox(0, util.Inches(5), util.Inches(2), util.Inches(1))
    low.text_frame.text = "at the bottom"
    grid = third.shapes.add_table(2, 2, 0, util.Inches(1), util.Inches(3), util.Inches(1)).table
    for place, words in enumerate(("Name", "Bar", "low", "1")):
        grid.cell(place // 2, place % 2).text = words
    data = chart_data.CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Leaks", (3, 4.5))
    third.shapes.add_chart(51, 0, util.Inches(3), util.Inches(3), util.Inches(2), data)
    return _saved(deck)


def test_powerpoint() -> None:
    document = read_pptx(_pptx(), source="file:///x/a.pptx")
    assert document.title == "Pumps in 2026"
    assert document.text == (
        "## Pumps in 2026\n\nA talk\n\n"
        "## Why\n\n- They leak\n  - at the valve\n- They are loud\n\n**Notes**\n\nSay it slowly.\n\n"
        "## Slide 3\n\n| Name | Bar |\n| --- | --- |\n| low | 1 |\n\n"
        "|  | Leaks |\n| --- | --- |\n| May | 3 |\n| June | 4.5 |\n\nat the bottom"
    )


def _xlsx(fill: Callable[[Any], None]) -> bytes:
    book = cast(Any, import_module("openpyxl")).Workbook()
    fill(book)
    return _saved(book)


def _workbook(book: Any) -> None:
    sheet = book.active
    sheet.title = "Prices"
    for row in (("Plan", "Price", "From"), ("Basic", 9.5, date(2026, 1, 2)), ("Pro|x", 20, datetime(2026, 1, 2, 3, 4))):
        sheet.append(row)
    sheet["B5"] = "Tax"  # column A and row 4 are empty here
    sheet["C5"] = 0.19
    sheet["C5"].number_format = "0%"
    notes = book.create_sheet("Notes")
    notes["A1"] = "# Prices hold for a year."
    notes["A2"] = True
    book.create_sheet("Empty")
    hidden = book.create_sheet("Lists")
    hidden["A1"], hidden.sheet_state = "not shown", "hidden"


def test_excel() -> None:
    document = read_xlsx(_xlsx(_workbook), source="file:///x/price-list.xlsx")
    assert document.title == "price list"
    assert document.text == (
        "## Prices\n\n| Plan | Price | From |\n| --- | --- | --- |\n| Basic | 9.5 | 2026-01-02 |\n"
        "| Pro\\|x | 20 | 2026-01-02 03:04 |\n\n| Tax | 19% |\n| --- | --- |\n\n"
        "## Notes\n\n\\# Prices hold for a year.\n\nTRUE"
    )


def test_a_stray_cell_in_the_last_row_of_a_sheet_costs_no_minutes() -> None:
    def fill(book: Any) -> None:
        book.active["A1"], book.active["B1"] = "Some", "words"
        book.active["XFD1048576"] = "far away"

    started = time.perf_counter()
    assert read_xlsx(_xlsx(fill), source="s").text.startswith("## Sheet\n\n| Some | words |")
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ('a;b\n"x;y";"two\nlines"\n', "| a | b |\n| --- | --- |\n| x;y | two lines |"),
        ("a\tb\nc\t\n", "| a | b |\n| --- | --- |\n| c |  |"),
        ("one\ntwo\n", "one\n\ntwo"),
    ],
)
def test_separated_values(text: str, markdown: str) -> None:
    assert read_csv(text.encode("utf-16"), source="file:///x/a.csv").text == markdown


_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
_OPF = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>The Book of Pumps</dc:title><dc:language>en-GB</dc:language></metadata><manifest>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="x" href="../../../etc/passwd" media-type="application/xhtml+xml"/>
<item id="g" href="gone.xhtml" media-type="application/xhtml+xml"/>
<item id="i" href="i.png" media-type="image/png"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="x"/><itemref idref="g"/>
<itemref idref="i"/></spine></package>"""


def _xhtml(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title/></head><body>{body}</body></html>"
    )


def _epub(**more: str) -> bytes:
    parts = {
        "META-INF/container.xml": _CONTAINER,
        "OEBPS/book.opf": _OPF,
        "OEBPS/nav.xhtml": _xhtml("<p>Contents</p>"),
        "OEBPS/text/one.xhtml": _xhtml('<h1>One</h1><p><a id="p1"/>Größe of it.</p><pre>x = 1\n  y</pre>'),
        "OEBPS/two b.xhtml": _xhtml("<h1>Two</h1><ul><li>item</li></ul>"),
    }
    return _zipped(parts | more)


def _zipped(parts: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def test_epub() -> None:
    document = read_epub(_epub(), source="file:///x/a.epub")
    assert (document.title, document.language) == ("The Book of Pumps", "en")
    assert document.text == "# One\n\nGröße of it.\n\n```\nx = 1\n  y\n```\n\n# Two\n\n- item"


def test_a_locked_book_is_refused_and_one_with_locked_fonts_is_read() -> None:
    def locked(name: str) -> str:
        return (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            f'<e:CipherReference xmlns:e="http://www.w3.org/2001/04/xmlenc#" URI="{name}"/></encryption>'
        )

    assert read_epub(_epub(**{"META-INF/encryption.xml": locked("OEBPS/a.otf")}), source="s").text
    with pytest.raises(SourceError, match="its publisher locked it"):
        read_epub(_epub(**{"META-INF/encryption.xml": locked("OEBPS/text/one.xhtml")}), source="s")


# Traps

_BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_WRITERS: dict[str, Callable[[], bytes]] = {
    ".docx": lambda: _docx(_word),
    ".pptx": _pptx,
    ".xlsx": lambda: _xlsx(_workbook),
    ".epub": _epub,
}


def _with_part(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            content = old.read(part)
            new.writestr(part.filename, change(content) if part.filename == name else content)
    return out.getvalue()


_MAIN = {
    ".docx": "word/document.xml",
    ".pptx": "ppt/slides/slide1.xml",
    ".xlsx": "xl/worksheets/sheet1.xml",
    ".epub": "OEBPS/book.opf",
}


@pytest.mark.promise("ING-5")
@pytest.mark.parametrize("suffix", list(_MAIN))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp037"])
def test_entities_in_xml_are_refused(suffix: str, encoding: str) -> None:
    def change(part: bytes) -> bytes:
        text = part.decode("utf-8")
        body = text[text.index("?>") + 2 :] if text.startswith("<?xml") else text
        return f'<?xml version="1.0" encoding="{encoding}"?>{_BOMB}{body}'.encode(encoding)

    _refused(READERS[suffix], _with_part(_WRITERS[suffix](), _MAIN[suffix], change))


@pytest.mark.promise("ING-5")
@pytest.mark.parametrize("suffix", list(_MAIN))
def test_a_zip_that_unpacks_to_gigabytes_is_refused_at_once(suffix: str) -> None:
    started = time.perf_counter()
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = b"".join(packed.compress(b" " * (1 << 20)) for _ in range(64)) + packed.flush()
    data = bytearray(_zipped({_MAIN[suffix]: "x"}))
    # 64 MB in one part of XML, then a directory that lists it as ten thousand parts of the size
    honest = _with_part(_WRITERS[suffix](), _MAIN[suffix], lambda part: part + b" " * (1 << 26))
    _refused(READERS[suffix], honest) if suffix != ".xlsx" else None
    assert len(body) < 1 << 20
    place = data.rindex(b"PK\x01\x02")
    data[place + 24 : place + 28] = struct.pack("<I", 0xFFFFFFF0)
    assert "unpacks to more than" in _refused(READERS[suffix], bytes(data))
    assert time.perf_counter() - started < 20


def _refused(reader: Reader, data: bytes) -> str:
    with pytest.raises(SourceError) as raised:
        reader(data, source="file:///x/bad")
    message = str(raised.value)
    assert message.startswith("file:///x/bad ")
    assert message.count("\n") == 0
    return message


@pytest.mark.promise("ING-5")
@pytest.mark.parametrize("suffix", list(_MAIN))
def test_damaged_files_cost_a_sentence(suffix: str) -> None:
    reader, whole = READERS[suffix], _WRITERS[suffix]()
    for data in (b"", b"PK\x03\x04", b"plain words", whole[: len(whole) // 2], _zipped({"a.txt": "x"})):
        assert "damaged or is not" in _refused(reader, data)
    assert "damaged" in _refused(reader, _with_part(whole, _MAIN[suffix], lambda part: part[: len(part) // 2]))
    assert "old binary format" in _refused(reader, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600)
    locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    assert "a password protects it" in _refused(reader, locked)
    for place in range(30, len(whole), max(1, len(whole) // 25)):
        with suppress(SourceError):  # and nothing else
            assert reader(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :], source="s").text


@pytest.mark.promise("ING-5")
def test_deep_nesting_costs_a_sentence() -> None:
    deep = b"<w:tbl><w:tr><w:tc>" * 5_000

    def change(part: bytes) -> bytes:
        return part.replace(b"<w:body>", b"<w:body>" + deep)

    _refused(read_docx, _with_part(_docx(_word), _MAIN[".docx"], change))


@given(st.lists(st.lists(st.text(alphabet="ab| \n\\", max_size=4), max_size=4), max_size=5))
@settings(max_examples=100, deadline=None)
def test_any_rows_make_an_even_table(rows: list[list[str]]) -> None:
    lines = table(rows).split("\n")
    bars = {line.replace("\\|", "").count("|") for line in lines if line}
    assert len(bars) <= 1


def test_a_document_on_the_web_is_read_by_its_type_or_its_name() -> None:
    def fetch(url: str) -> FetchedPage:
        media_type = "application/octet-stream" if url.endswith(".docx") else DOCX
        return FetchedPage(url=url, body=_docx(_word), media_type=media_type)

    for url in ("https://x.org/download?id=1", "https://x.org/a.docx"):
        (document,) = read_each(expand(url, fetch=fetch))
        assert isinstance(document, SourceDocument)
        assert (document.title, document.url) == ("Pump care", url)


def test_every_media_type_has_the_reader_of_its_suffix() -> None:
    assert set(MEDIA_TYPES.values()) <= set(READERS.values())
    assert MEDIA_TYPES["application/pdf"] is READERS[".pdf"]
