"""RUN-6: what the commands print, where they print it, and how they end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from harry_mcp import __version__
from harry_mcp.cli.ends import ExitCode
from harry_mcp.settings import child_environment
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.ingest.crawl.site import Site, prose, serving

pytestmark = pytest.mark.promise("RUN-6")

PAGES = {
    "keys.md": "# API keys\n\nOpen Settings, choose API keys and press Rotate. The old key works for one more hour.\n",
    "zürich.md": "# Zürich, 東京 und ключи\n\nDas Büro in Zürich öffnet um neun Uhr, das Büro in 東京 um zehn Uhr.\n",
    "invoices.html": "<h1>Invoices</h1><p>Invoices are sent on the first day of the month by mail.</p>",
}


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout; nothing else may stand there."""
        return json.loads(self.out)


def harry(*arguments: str | bytes, **environment: str) -> Done:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "harry_mcp.cli.main", *arguments],
        env=child_environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in out + err, err
    return Done(done.returncode, out, err)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("docs")
    for name, text in PAGES.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def filled(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a knowledge base with the pages in it, read into a fresh data folder."""
    place = tmp_path_factory.mktemp("data")
    done = harry("ingest", str(folder), "--topic", "Manual", "--json", HARRY_DATA_DIR=str(place))
    assert (done.code, done.err) == (0, "")
    assert sorted(done.json["added"]) == ["API keys", "Invoices", "Zürich, 東京 und ключи"]
    assert {name: value for name, value in done.json.items() if name != "added"} == {
        "changed": [],
        "unchanged": [],
        "missing": [],
        "failed": {},
        "template_contexts": {},
        "chunks_written": 3,
    }
    assert not servers_in(place), "the last one out stops the server"
    server = EmbeddedPostgres.start(place / "postgres")  # so that not every command must start it
    yield {"HARRY_DATA_DIR": str(place)}
    server.close()
    assert not servers_in(place)


def servers_in(place: Path) -> list[psutil.Process]:
    return [found for found in psutil.process_iter(["cwd"]) if (found.info["cwd"] or "").startswith(str(place))]


# What works


def test_what_was_read_in_is_found(filled: dict[str, str]) -> None:
    found = harry("search", "How do I rotate an API key?", "-k", "2", "--topic", "manual", "--json", **filled)
    assert (found.code, found.err) == (0, "")
    assert found.json["hits"][0]["title"] == "API keys"
    assert len(found.json["hits"]) <= 2
    nothing = harry("search", "How do I rotate an API key?", "--topic", "none", "--json", **filled)
    assert nothing.code == 0
    assert nothing.json["hits"] == []


def test_reading_in_again_reports_what_changed_went_and_failed(
    filled: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    again = harry("ingest", str(folder), "--topic", "Manual", **filled)
    assert (again.code, again.out) == (0, "0 added, 0 changed, 3 unchanged; 0 chunks written\n")
    place = tmp_path / ("a long name for a folder " * 4).strip()
    place.mkdir()
    (place / "old.md").write_text("# Old\n\nThis page goes away.\n", encoding="utf-8")
    (place / "bad.md").write_bytes(b"\x00\x01\x02\x03" * 100)
    first = harry("ingest", str(place), "--json", **filled)
    assert first.code == ExitCode.PARTIAL
    assert first.json["added"] == ["Old"]
    assert list(first.json["failed"]) == [(place / "bad.md").as_uri()]
    (place / "old.md").unlink()
    second = harry("ingest", str(place), str(folder / "*.md"), COLUMNS="60", **filled)
    assert second.code == ExitCode.PARTIAL
    lines = second.out.splitlines()
    assert len(lines) == 3, "one line each, however narrow the terminal"
    assert lines[1] == f"gone from its folder, kept in the knowledge base: {(place / 'old.md').as_uri()}"
    assert lines[2].startswith("skipped: ")
    assert "bad.md" in lines[2]


@pytest.mark.promise("ING-2")
def test_a_private_address_is_read_once_that_is_allowed_in_either_way(filled: dict[str, str]) -> None:
    with serving(Site()) as site:
        site.page("/", prose("front"))
        refused = harry("ingest", site.url, **filled)
        assert (refused.code, refused.err) == (ExitCode.PARTIAL, "")
        for way in ("--allow-private", "HARRY_INGEST__PRIVATE_ADDRESSES"):
            assert way in refused.out
        assert harry("ingest", site.url, "--allow-private", "--json", **filled).json["failed"] == {}
        by_setting = harry("ingest", site.url, "--json", HARRY_INGEST__PRIVATE_ADDRESSES="true", **filled)
        assert len(by_setting.json["unchanged"]) == 1


@pytest.mark.parametrize(
    "locale",
    [{"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}],
    ids=["ascii", "posix"],
)
def test_output_is_utf_8_whatever_the_locale(filled: dict[str, str], locale: dict[str, str]) -> None:
    done = harry("search", "When does the bureau open?", **filled, **locale)
    assert (done.code, done.err) == (0, "")
    assert "Zürich, 東京 und ключи" in done.out
    assert "öffnet" in done.out


@pytest.mark.promise("RUN-4")
def test_doctor_says_what_is_in_use_and_why(filled: dict[str, str]) -> None:
    done = harry("doctor", "--json", **filled)
    assert (done.code, done.err) == (0, "")
    checks = {check["name"]: check["finding"] for check in done.json["checks"]}
    assert done.json["ok"]
    assert __version__ in checks["harry"]
    assert "HARRY_PROFILE" in checks["profile"]
    assert "all-MiniLM-L6-v2" in checks["embeddings"]
    assert "no key needed" in checks["embeddings"]
    assert "no key needed" in checks["ranker"]
    assert f"embedded, in {Path(filled['HARRY_DATA_DIR'], 'postgres')}: PostgreSQL 18" in checks["database"]
    assert "pgvector 0.8" in checks["database"]
    assert re.search(r"\d live; \d chunks; languages .*en", checks["documents"])
    assert "in 7 days" in checks["searches"]
    shown = harry("doctor", **filled)
    assert shown.code == 0
    assert [line.split()[:2] for line in shown.out.splitlines() if line.startswith(" ok")] == [
        ["ok", name] for name in checks
    ]


def test_a_golden_set_is_measured_beside_the_knowledge_base(filled: dict[str, str], tmp_path: Path) -> None:
    corpus, questions = tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl"
    rows = [{"id": name, "title": name, "text": text} for name, text in PAGES.items()]
    corpus.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    asked: list[dict[str, Any]] = [
        {"id": "1", "text": "How do I rotate an API key?", "relevant_ids": ["keys.md"]},
        {"id": "2", "text": "When are invoices sent?", "relevant_ids": ["invoices.html"]},
        {"id": "3", "text": "Who won the cup?", "relevant_ids": [], "answerable": False},
    ]
    questions.write_text("\n".join(json.dumps(row) for row in asked), encoding="utf-8")
    done = harry("eval", "run", "--corpus", str(corpus), "--queries", str(questions), "--json", **filled)
    assert (done.code, done.err) == (0, "")
    assert (done.json["documents"], done.json["questions"], done.json["answerable"]) == (3, 3, 2)
    assert done.json["retrieval"]["rank"]["hit@1"] == 1.0
    kept = harry("doctor", "--json", **filled).json["checks"]
    assert not any("6 live" in check["finding"] for check in kept), "the user's own documents stay alone"


def test_version_and_help_answer_without_anything_else() -> None:
    assert harry("--version") == Done(0, f"harry {__version__}\n", "")
    shown = " ".join(harry("--help", COLUMNS="200").out.split())
    assert "over standard input and output or with --http over HTTP" in shown
    for code, words in enumerate(("done", "failed", "the input or a setting cannot be used", "the database")):
        assert f"{code} {words}" in shown
    assert "4 a model or service" in shown
    assert "5 done in part" in shown
    assert "130 stopped by Ctrl-C; 141 nobody read the output to its end; 143 ended by SIGTERM" in shown
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 4, 5, 6, 130, 141, 143]
    for command in ("serve", "ingest", "crawl", "reembed", "search", "doctor", "demo", "eval"):
        assert f" {command} " in shown


# What cannot be done

NOWHERE = "postgresql://harry:hush@127.0.0.1:1/none"
ERRORS: list[tuple[tuple[str | bytes, ...], dict[str, str], ExitCode, str]] = [
    (("search", "x"), {"HARRY_RETREIVE__K": "3"}, ExitCode.USAGE, "Did you mean HARRY_RETRIEVE__K?"),
    (("serve",), {"HARRY_LOG_LEVEL": "loud"}, ExitCode.USAGE, "HARRY_LOG_LEVEL cannot be used"),
    (("ingest", "{tmp}/none.md"), {}, ExitCode.USAGE, "There is no file or folder {tmp}/none.md."),
    (("ingest", "{tmp}"), {}, ExitCode.USAGE, "{tmp} holds no documents; what is read is "),
    (("ingest", "{tmp}/*.md"), {}, ExitCode.USAGE, "No file matches {tmp}/*.md."),
    (("ingest", ""), {}, ExitCode.USAGE, "A target is empty"),
    (("ingest", "http://"), {}, ExitCode.USAGE, "is not an http or https address"),
    (("ingest", b"\xff\xfe"), {}, ExitCode.USAGE, "There is no file or folder"),
    (("search", "x"), {"HARRY_DATABASE_URL": NOWHERE}, ExitCode.DATABASE, "Check HARRY_DATABASE_URL"),
    (
        ("search", "x"),
        {"HARRY_DATABASE_URL": "harry:hush"},
        ExitCode.DATABASE,
        "Write HARRY_DATABASE_URL as postgresql://",
    ),
    (("search", "x"), {"HARRY_PROFILE": "{tmp}/none.toml"}, ExitCode.USAGE, "none.toml cannot be read"),
    (("search", "x"), {"HARRY_PROFILE": "{bad}"}, ExitCode.USAGE, "is not TOML"),
    (("search", "x"), {"HARRY_DATA_DIR": "{bad}"}, ExitCode.DATABASE, "{bad}"),
    (("eval", "run", "--corpus", "{bad}", "--queries", "{bad}"), {}, ExitCode.USAGE, "{bad}, line 1"),
    (("eval", "run", "--corpus", "{tmp}/no", "--queries", "{bad}"), {}, ExitCode.USAGE, "{tmp}/no cannot be read"),
]


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "sentence"), ERRORS, ids=[f"{e[0][0]!s}-{e[3][:24]}" for e in ERRORS]
)
def test_an_error_is_one_line_on_stderr_with_the_next_step(
    tmp_path: Path,
    arguments: tuple[str | bytes, ...],
    environment: dict[str, str],
    code: ExitCode,
    sentence: str,
) -> None:
    empty, bad = tmp_path / "a folder of some length, so that a line would break in it", tmp_path / "bad"
    empty.mkdir()
    bad.write_text("= {not anything\n", encoding="utf-8")

    def filled_in(text: str) -> str:
        return text.replace("{tmp}", str(empty)).replace("{bad}", str(bad))

    done = harry(
        *(filled_in(word) if isinstance(word, str) else word for word in arguments),
        **{"HARRY_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "40"}
        | {name: filled_in(value) for name, value in environment.items()},
    )
    assert (done.code, done.out) == (code, "")
    assert filled_in(sentence) in done.err
    assert done.err.startswith("harry: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith(".\n") or done.err.endswith("?\n")
    assert "hush" not in done.err


def test_a_mistake_in_the_command_itself_ends_with_its_usage() -> None:
    for arguments in (("ingest",), ("search", "x", "-k", "0"), ("serch",), ("eval", "run")):
        done = harry(*arguments)
        assert (done.code, done.out) == (ExitCode.USAGE, "")
        assert "Usage: harry" in done.err


def test_questions_and_filters_of_any_bytes_are_answered(filled: dict[str, str]) -> None:
    for words in ([b"\xff rotate key"], ["rotate key", "--topic", b"\xff", "--source", b"\xfe"]):
        done = harry("search", *words, "--json", **filled)
        assert done.code == 0
        assert bool(done.json["hits"]) == (len(words) == 1)
    assert harry("search", b"\xff\xfe", "--json", **filled).code == ExitCode.USAGE


def test_a_topic_is_stored_in_letters_that_can_be_asked_for(filled: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Parking\n\nThe car park behind the house is free of charge.\n", encoding="utf-8")
    assert harry("ingest", str(page), "--topic", b" \xffHouse\n rules", **filled).code == 0
    found = harry("search", "parking", "--topic", "house rules", "--json", **filled)
    assert [hit["topic"] for hit in found.json["hits"]] == ["House rules"]


@pytest.mark.promise("RUN-4")
@pytest.mark.parametrize(
    ("environment", "code", "name", "sentence"),
    [
        ({"HARRY_RANK__STRONG": "2"}, ExitCode.USAGE, "settings", "HARRY_RANK__STRONG cannot be used"),
        ({"HARRY_PROFILE": "/none.toml"}, ExitCode.USAGE, "profile", "/none.toml cannot be read"),
        ({"HARRY_DATABASE_URL": NOWHERE}, ExitCode.DATABASE, "database", "Check HARRY_DATABASE_URL"),
    ],
    ids=["settings", "profile", "database"],
)
def test_doctor_names_what_is_wrong_and_checks_the_rest(
    filled: dict[str, str], environment: dict[str, str], code: ExitCode, name: str, sentence: str
) -> None:
    done = harry("doctor", "--json", **filled | environment)
    assert (done.code, done.err) == (code, "")
    assert not done.json["ok"]
    wrong = [check for check in done.json["checks"] if not check["ok"]]
    assert [check["name"] for check in wrong] == [name]
    assert sentence in wrong[0]["finding"]
    assert "hush" not in done.out


@pytest.mark.promise("RUN-4")
def test_doctor_shows_a_person_what_is_wrong() -> None:
    shown = harry("doctor", HARRY_FOO="1")
    assert (shown.code, shown.err) == (ExitCode.USAGE, "")
    assert " no  settings" in shown.out
    assert "HARRY_FOO" in shown.out
