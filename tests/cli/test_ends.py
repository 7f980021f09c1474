"""RUN-6: how every command ends, by its code and by one sentence on stderr, whatever is wrong around it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import typer
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from harry_mcp.app import App
from harry_mcp.cli.commands import app as commands
from harry_mcp.cli.ends import STOPPED, ExitCode, exit_code
from harry_mcp.errors import HarryError
from harry_mcp.settings import Settings, child_environment
from tests.cli.test_commands import NOWHERE, harry
from tests.loop.small_base import filled

pytestmark = pytest.mark.promise("RUN-6")

COMMAND = (sys.executable, "-W", "error", "-m", "harry_mcp.cli.main")
GOLDEN = ("--corpus", "{corpus}", "--queries", "{queries}")
# Every command with arguments that could be used.
WHOLE: dict[str, tuple[str, ...]] = {
    "serve": (),
    "ingest": ("{page}",),
    "crawl": ("http://127.0.0.1:1/", "--allow-private"),
    "token new": ("ann", "--role", "reader"),
    "documents list": (),
    "documents archive": ("doc_1",),
    "documents restore": ("doc_1",),
    "documents remove": ("doc_1", "--yes"),
    "jobs list": (),
    "jobs run": ("digest",),
    "worker": (),
    "ask": ("How?", "--json"),
    "chat": (),
    "search": ("How?",),
    "curate list": (),
    "curate approve": ("doc_1",),
    "curate archive": ("doc_1",),
    "curate reject": ("doc_1",),
    "curate restore": ("doc_1",),
    "curate keep": ("doc_1",),
    "curate rewrite": ("doc_1", "--title", "New"),
    "curate undo": ("act_1",),
    "reembed": (),
    "vectors status": (),
    "vectors rebuild": (),
    "vectors off": ("--yes",),
    "export": ("{tmp}/export.jsonl",),
    "import": ("{answers}",),
    "doctor": ("--json",),
    "demo": (),
    "eval run": GOLDEN,
    "eval calibrate": GOLDEN,
    "eval corrections": ("--golden", "{lessons}"),
    "eval facts": ("--gold", "{edits}"),
    "eval list": (),
    "eval show": ("run_1",),
}
# They read no settings; they need no database of the settings, or not at once, or are tested as a process.
WITHOUT_SETTINGS = {"token new"}
WITHOUT_DATABASE = {"token new", "serve", "chat", "demo", "eval facts", "worker", "ask"}
FILES = {
    "page": "# Keys\n\nOpen Settings and press Rotate.\n",
    "answers": '{"question": "How are keys rotated?", "answer": "Press Rotate."}\n',
    "corpus": '{"id": "1", "title": "Keys", "text": "Open Settings and press Rotate."}\n',
    "queries": '{"id": "1", "text": "How?", "relevant_ids": ["1"]}\n',
    "lessons": '{"id": "1", "lesson": "It is blue.", "wrong": "It is red.", "truth": "It is blue."}\n'
    '{"id": "2", "text": "Which colour?", "relevant": ["1"]}\n',
    "edits": '{"old": "It is red.", "new": "It is blue.", "label": 1}\n',
}


def arguments(command: str, place: Path) -> list[str]:
    given = [*command.split(), *WHOLE[command]]
    for name, text in FILES.items():
        file = place / f"{name}{'.md' if name == 'page' else '.jsonl'}"
        file.write_text(text, encoding="utf-8")
        given = [word.replace("{" + name + "}", str(file)) for word in given]
    return [word.replace("{tmp}", str(place)) for word in given]


def every_command() -> Iterator[str]:
    def below(group: Any, path: tuple[str, ...]) -> Iterator[str]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from below(command, (*path, name))
            else:
                yield " ".join((*path, name))

    return below(typer.main.get_command(commands), ())


def is_one_sentence(told: str) -> bool:
    return told.startswith("harry: ") and told.count("\n") == 1 and told.endswith((".\n", "?\n"))


def test_the_table_has_every_command() -> None:
    ours = {command for command in every_command() if not command.startswith(("eval loop", "eval grow"))}
    assert ours == set(WHOLE)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended in this process: by an error, or by a code and what it printed."""

    code: int
    error: str
    out: str


def ended(command: str, place: Path, *more: str, **environment: str) -> Ended:
    """In this process, for each of its own takes seconds; what the process makes of an error is tested beside."""
    result = CliRunner().invoke(commands, [*arguments(command, place), *more], env=environment, prog_name="harry")
    error = result.exception
    if isinstance(error, HarryError):
        return Ended(exit_code(error), str(error), result.output)
    assert error is None or isinstance(error, SystemExit), repr(error)
    return Ended(result.exit_code, "", result.output)


@pytest.mark.parametrize("command", [name for name in WHOLE if name not in WITHOUT_SETTINGS])
def test_a_misspelled_setting_ends_every_command_at_once(tmp_path: Path, command: str) -> None:
    done = ended(command, tmp_path, HARRY_RETREIVE__K="3", HARRY_DATA_DIR=str(tmp_path / "data"))
    assert done.code == ExitCode.USAGE
    told = "There is no setting HARRY_RETREIVE__K. Did you mean HARRY_RETRIEVE__K?"
    assert told in done.out if command == "doctor" else (done.error, done.out) == (told, "")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", [name for name in WHOLE if name not in WITHOUT_DATABASE])
def test_a_database_that_is_away_ends_every_command_with_its_code(tmp_path: Path, command: str) -> None:
    done = ended(command, tmp_path, HARRY_DATABASE_URL=NOWHERE)
    assert done.code == ExitCode.DATABASE
    told = done.out if command == "doctor" else done.error
    assert "Check HARRY_DATABASE_URL, or unset it to let harry run its own." in told
    assert "hush" not in done.out + done.error
    assert command == "doctor" or not done.out


@pytest.mark.parametrize("command", WHOLE)
def test_an_option_that_is_none_ends_every_command_with_its_usage(tmp_path: Path, command: str) -> None:
    done = ended(command, tmp_path, "--no-such-option")
    assert (done.code, done.error) == (ExitCode.USAGE, "")
    assert "Usage: harry" in done.out
    assert "No such option: --no-such-option" in done.out


def test_what_is_told_stands_in_one_line_on_stderr() -> None:
    worker = harry("worker", HARRY_DATABASE_URL=NOWHERE)
    assert (worker.code, worker.out) == (ExitCode.DATABASE, "")
    assert is_one_sentence(worker.err)
    asked = harry("ask", "How?", "--json", HARRY_DATABASE_URL=NOWHERE)
    assert (asked.code, asked.out) == (ExitCode.DATABASE, "")
    # The server that it starts says it in its log too.
    assert [is_one_sentence(line) for line in asked.err.splitlines(keepends=True)][-1]
    served = harry("serve", HARRY_RETREIVE__K="3")
    assert (served.code, served.out) == (ExitCode.USAGE, "")
    assert is_one_sentence(served.err)


async def test_every_way_in_which_a_database_cannot_be_had_has_the_same_code(
    settings: Settings, tmp_path: Path
) -> None:
    """A user who may make nothing stands for a server without pgvector: the extension cannot be made."""
    url = settings.database_url.get_secret_value()
    name = "harry_plain"
    async with await AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'hush'").format(sql.Identifier(name)))
        await connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(*[sql.Identifier(name)] * 2))
    file = tmp_path / "file"
    file.touch()
    ways: list[tuple[dict[str, str], str]] = [
        ({"HARRY_DATABASE_URL": make_conninfo(url, user=name, password="hush", dbname=name)}, "pgvector 0.7"),
        ({"HARRY_DATABASE_URL": make_conninfo(url, user="nobody", password="hush")}, '"nobody" does not exist'),
        ({"HARRY_DATABASE_URL": make_conninfo(url, dbname="none")}, '"none" does not exist'),
        ({"HARRY_DATABASE_URL": "harry:hush"}, "Write HARRY_DATABASE_URL as postgresql://"),
        ({"HARRY_DATABASE_URL": "", "HARRY_DATA_DIR": str(file)}, "choose another data folder"),
    ]
    try:
        for environment, sentence in ways:
            done = harry("doctor", "--json", **{"HARRY_DATA_DIR": str(tmp_path / "data"), **environment})
            assert done.code == ExitCode.DATABASE
            (wrong,) = (check["finding"] for check in done.json["checks"] if not check["ok"])
            assert sentence in wrong
            assert "hush" not in done.out + done.err
    finally:
        async with await AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
            await connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


async def test_a_question_that_the_server_refuses_ends_as_unusable_input(app: App, settings: Settings) -> None:
    await filled(app)
    url = settings.database_url.get_secret_value()
    done = harry("ask", "x" * 7000, "--json", HARRY_DATABASE_URL=url, HARRY_REPLY__QUESTION_CHARACTERS="100")
    assert done.code == ExitCode.USAGE, done
    assert is_one_sentence(done.err.splitlines(keepends=True)[-1])


# The output

SHORT = [("--version",), ("--help",), ("doctor",), ("doctor", "--json")]


@pytest.mark.parametrize("words", SHORT, ids=" ".join)
@pytest.mark.parametrize("buffered", ["", "1"], ids=["held back", "at once"])
def test_who_has_read_enough_is_no_failure_and_hears_nothing(words: tuple[str, ...], buffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = into(writing, *words, HARRY_DATABASE_URL=NOWHERE, PYTHONUNBUFFERED=buffered)
    assert done == (ExitCode.CLOSED, "")


async def test_an_export_that_nobody_reads_on_ends_the_same_way(app: App, settings: Settings) -> None:
    await filled(app)
    reading, writing = os.pipe()
    os.close(reading)
    url = settings.database_url.get_secret_value()
    assert into(writing, "export", "-", HARRY_DATABASE_URL=url) == (ExitCode.CLOSED, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this platform has no device that is always full")
@pytest.mark.parametrize("words", SHORT, ids=" ".join)
@pytest.mark.parametrize("buffered", ["", "1"], ids=["held back", "at once"])
def test_output_that_finds_no_room_is_told(words: tuple[str, ...], buffered: str) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    code, told = into(full, *words, HARRY_DATABASE_URL=NOWHERE, PYTHONUNBUFFERED=buffered)
    assert code == ExitCode.USAGE
    assert told == "harry: Standard output cannot be written: No space left on device.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes the stream")
def test_a_command_without_any_output_works() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&- 2>&-', "sh", *COMMAND, "doctor", "--json"],
        env=child_environment(HARRY_DATABASE_URL=NOWHERE),
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    assert done.returncode == ExitCode.DATABASE


def into(descriptor: int, *words: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [*COMMAND, *words],
        env=child_environment(**environment),
        stdin=subprocess.DEVNULL,
        stdout=descriptor,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(descriptor)
    return done.returncode, done.stderr.decode()


# Ctrl-C


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to another process is POSIX")
def test_ctrl_c_while_a_command_is_still_being_loaded_is_no_traceback() -> None:
    """The signal comes at different moments of the half second that imports take."""
    seen: set[str] = set()
    for milliseconds in (150, 350):
        process = subprocess.Popen(
            [*COMMAND, "doctor"],
            env=child_environment(HARRY_DATABASE_URL="postgresql://harry@192.0.2.1/none"),  # nobody ever answers there
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        # The file of the module is opened last before main runs; from there on a signal is ours.
        _until_open(process.pid, milliseconds)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode in (ExitCode.INTERRUPTED, -signal.SIGINT), told
        seen.add(told.decode())
    assert seen == {STOPPED}


def _until_open(pid: int, milliseconds: int) -> None:
    """Wait until the process has loaded typer, or so long after it began."""
    maps, began = Path(f"/proc/{pid}/maps"), time.monotonic()
    while "_json" not in maps.read_text() or time.monotonic() - began < milliseconds / 1000:
        if time.monotonic() - began > 30:
            raise AssertionError("it never began")


ASKING = """
import typer
from harry_mcp.cli.asking import confirm
from harry_mcp.cli.console import run

async def work():
    confirm("Remove all", yes=False)

try:
    run(work())
except typer.Exit as leaving:
    raise SystemExit(leaving.exit_code)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it takes a terminal of POSIX")
@pytest.mark.parametrize(
    "words", [("-m", "harry_mcp.cli.main", "vectors", "off"), ("-c", ASKING)], ids=["before", "in an event loop"]
)
def test_one_ctrl_c_is_enough_where_a_person_is_asked(words: tuple[str, ...]) -> None:
    owner, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *words],
        env=child_environment(HARRY_DATABASE_URL=NOWHERE),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    try:
        said = b""
        while b"go on?" not in said:
            said += os.read(owner, 1000)
        _until_it_waits(psutil.Process(process.pid))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == ExitCode.INTERRUPTED
        assert _all_of(owner).strip() == STOPPED.strip()
    finally:
        process.kill()
        process.wait()
        os.close(owner)


def _until_it_waits(process: psutil.Process) -> None:
    used, still = process.cpu_times(), 0
    while still < 2000:
        still = still + 1 if process.status() == psutil.STATUS_SLEEPING and process.cpu_times() == used else 0
        used = process.cpu_times()


def _all_of(descriptor: int) -> str:
    found = b""
    while True:
        try:
            data = os.read(descriptor, 1000)
        except OSError:  # the other side is closed
            return found.decode()
        if not data:
            return found.decode()
        found += data
