"""OPS-5: tables of questions and answers, as the programs of many countries write them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.cli.files import reading
from harry_mcp.domain.verified import ProposedResponse, VerifiedSource
from harry_mcp.errors import InputError
from harry_mcp.ingest.answer_files import answers_in_table

pytestmark = pytest.mark.promise("OPS-5")

QUESTION, ANSWER = 'Wie, wo; und "wann"?', "Im Büro,\num neun; nicht\tspäter | nie."
WANTED = ProposedResponse(
    question=QUESTION, answer=ANSWER, sources=(VerifiedSource(title="Zeiten", url="https://example.com/zeiten"),)
)


def read(path: Path) -> list[ProposedResponse]:
    with reading(str(path)) as lines:
        return answers_in_table((number, f"{line}\n") for number, line in lines)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def table(delimiter: str, names: list[str], end: str = "\r\n") -> str:
    row = [quoted(QUESTION), quoted(ANSWER), quoted("Zeiten"), "https://example.com/zeiten"]
    return end.join([delimiter.join(names), delimiter.join(row), delimiter * 3, ""])


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be-sig"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
def test_a_table_is_read_whatever_wrote_it(tmp_path: Path, delimiter: str, encoding: str, packed: bool) -> None:
    text = table(delimiter, ["Question", " ANSWER ", "title", "\u00a0Url"])
    data = ("\ufeff" + text).encode("utf-16-be") if encoding == "utf-16-be-sig" else text.encode(encoding)
    path = tmp_path / ("table.csv.gz" if packed else "table.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert read(path) == [WANTED]


@pytest.mark.parametrize(
    "before", ["", "\r\n", "sep=;\r\n", '"sep=;"\r\n\r\n'], ids=["nothing", "empty", "hint", "quoted"]
)
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"], ids=["windows", "unix", "old mac"])
def test_what_stands_before_the_names_is_passed_over(tmp_path: Path, before: str, end: str) -> None:
    path = tmp_path / "table.csv"
    head = ['"Que\u200bstion"', '"Ans wer"', "TITLE", "URL"]
    path.write_bytes((before.replace("\r\n", end) + table(";", head, end)).encode())
    assert read(path) == [WANTED]


def test_names_and_cells_that_come_too_many_or_go_over_lines(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('"The\nowner";question;answer\nme;One?;Yes.;;\n', encoding="utf-8")
    assert [(each.question, each.answer) for each in read(path)] == [("One?", "Yes.")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("frage;antwort\n1;2\n", "no column `question` and no column `answer`; it names `frage`, `antwort`"),
        ("id,question,reply\n1,2,3\n", "no column `answer`; it names `id`, `question`, `reply`"),
        ("question;answer;Answer\n1;2;3\n", "names the column `answer` twice"),
        ("question;answer\n1;2;3\n", "Line 2 has more cells than the first"),
        ('question;answer\n1;"2\n', "is no row of a table"),
        ("\n\n", "it names none"),
        ("question" * 50 + ",x" * 50, "x`. A table needs `question` and `answer`"),
    ],
)
def test_a_table_that_lacks_something_is_told_what(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read(path)
    assert sentence in str(refused.value)
    assert "Nothing was imported." in str(refused.value)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"question": "Wo ist Z\xfcrich?", "answer": "Da."}\n', "is not UTF-8"),
        (b"PK\x03\x04" + bytes(100), "is a workbook"),
        ("\ufeffquestion;answer\n".encode("utf-16")[:-1], "is not UTF-8"),
    ],
    ids=["json", "workbook", "half a character"],
)
def test_a_file_in_another_form_is_told_how_to_save_it(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=sentence):
        read(path)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    "row",
    [
        ("Wo ist Zürich?", "Da."),
        ("Öffnet das Büro um neun?", "Ja, für 5 € – „immer“…"),
        ("Où est le café ?", "À côté de l’église."),
        ("¿Dónde está la oficina?", "En España, mañana."),
    ],
    ids=["one accent", "german", "french", "spanish"],
)
def test_a_table_in_windows_1252_is_read_as_it_was_written(tmp_path: Path, row: tuple[str, str], packed: bool) -> None:
    data = f"question;answer\r\n{row[0]};{row[1]}\r\n".encode("cp1252")
    path = tmp_path / ("table.csv.gz" if packed else "table.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert [(each.question, each.answer) for each in read(path)] == [row]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("question;answer\nOne?;Yes.\nTwo?;\nThree?;No.\n", "Line 3 has a question and no answer."),
        ("question;answer\nOne?\n", "Line 2 has no `question` and `answer`"),
        ("question;answer\n ;Yes.\n", "Line 2 has an answer and no question."),
        ("question;answer;url\n;;https://x.example\n", "Line 2 is empty but for what it rests on."),
        ("sep=;\n\nquestion;answer\nOne?;\n", "Line 4 has a question and no answer."),
    ],
)
def test_a_row_that_lacks_something_is_named_and_nothing_is_taken(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read(path)
    assert str(refused.value).startswith(sentence)
    assert str(refused.value).endswith("Nothing was imported.")


CELLS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(lambda c: c.strip())


@given(st.sampled_from(",;\t|"), st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_any_text_comes_through_any_delimiter(delimiter: str, rows: list[tuple[str, str]]) -> None:
    lines = [delimiter.join(["answer", "question"]), *(delimiter.join(map(quoted, row)) for row in rows)]
    found = answers_in_table((number, f"{line}\n") for number, line in enumerate(lines, 1))
    assert [(each.answer, each.question) for each in found] == rows
