"""AGT-5: any MCP server of the same contract, by command or address; and servers that break it, hang or die."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from harry_mcp.agent.answers import Outcome
from harry_mcp.agent.connection import Connection
from harry_mcp.agent.reporting_back import Complaint, praise
from harry_mcp.agent.target import ServerTarget
from harry_mcp.cli.console import ExitCode
from harry_mcp.errors import InputError, ServerUnavailable, ToolFailed
from harry_mcp.settings import AgentSection, Settings, load_settings
from tests.agent.chatting import said, streamed, talking, tool
from tests.agent.test_local import harry
from tests.ports import free_port

pytestmark = pytest.mark.promise("AGT-5")

SCRIPT = str(Path(__file__).with_name("other_server.py"))
BABBLES = "import sys; print('hello'); sys.stdin.read()"
OTHER = ServerTarget(command=(sys.executable, SCRIPT))
HOW = "How do I start the zeppelin?"


@pytest.fixture
def alone(tmp_path: Path) -> Settings:
    """Settings that reach no knowledge base of ours."""
    return load_settings({"HARRY_DATA_DIR": str(tmp_path), "HARRY_DATABASE_URL": "postgresql://127.0.0.1:1/none"})


async def test_a_command_is_asked_and_its_broken_answers_are_read_with_care(alone: Settings) -> None:
    async with talking(alone, target=OTHER) as talk:
        answer = await talk.ask(HOW)
        assert answer.outcome is Outcome.ANSWERED
        assert [(source.number, source.url) for source in answer.sources] == [(1, "https://zeppelin.example/start")]
        for question in ("praise", "dance"):
            assert (await talk.ask(question)).outcome is Outcome.NOT_KNOWN, "no hits, or no action that is known"
        official = await talk.ask("official")
        assert official.text == "Pull it.[2J"
        assert (await talk.ask("nameless")).text.endswith("> A passage of nowhere.")
        with pytest.raises(ToolFailed, match="does not speak harry's contract: verdict"):
            await talk.ask("nonsense")
        with pytest.raises(ToolFailed, match=r"The database is away\."):
            await talk.ask("fail")
        with pytest.raises(ToolFailed, match="takes nothing of the kind from you"):
            await praise(talk.session.connection, answer)


async def test_a_server_that_dies_or_hangs_is_told_and_the_next_question_finds_it_again(alone: Settings) -> None:
    async with talking(alone, target=OTHER, agent={"tool_seconds": 2.0}) as talk:
        for _ in range(2):
            with pytest.raises(ServerUnavailable, match="went away during the search"):
                await talk.ask("die")
            assert (await talk.ask(HOW)).outcome is Outcome.ANSWERED
        with pytest.raises(ServerUnavailable, match=r"did not answer in time \(2 s\)"):
            await talk.ask("hang")
        assert (await talk.ask(HOW)).outcome is Outcome.ANSWERED


async def test_a_server_that_dies_while_the_model_reads_leaves_what_was_found(alone: Settings) -> None:
    good = "Pull the lever [1]."
    async with talking(alone, said(good), target=OTHER) as talk:
        dying = streamed(tool("read_document", {"document_id": "die"}))
        answer = await talk.ask(HOW, dying, said(good))
        assert answer.text == good
        assert ("model", "read_document", False) in talk.tools
        empty = await talk.ask(HOW, streamed(tool("read_document", {"document_id": "x"})), said(good))
        assert empty.text == good
        result = talk.chat.asked[1]["messages"][-1]["content"][0]
        assert "is_error" not in result


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (ServerTarget(command=("/no/such/program",)), "/no/such/program cannot be used: there is no such command"),
        (ServerTarget(command=(sys.executable, "-c", "pass")), "cannot be used: the command ended"),
        (
            ServerTarget(command=(sys.executable, "-c", "import sys; print('hello'); sys.stdin.read()")),
            "did not answer in time .* Does that command serve MCP",
        ),
        (
            ServerTarget(url="http://127.0.0.1:1/mcp"),
            r"http://127.0.0.1:1/mcp cannot be used: nothing answers .*running\?$",
        ),
    ],
    ids=["no program", "ends", "babbles", "nobody there"],
)
async def test_what_is_no_server_is_an_error_that_names_it(target: ServerTarget, sentence: str) -> None:
    line = Connection(target, AgentSection(connect_seconds=5.0))
    with pytest.raises(ServerUnavailable, match=sentence):
        await line.tools()
    await line.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The other server over HTTP; its token is ``open-sesame``."""
    port = free_port()
    process = subprocess.Popen([sys.executable, SCRIPT, str(port), "open-sesame"])
    try:
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def test_an_address_is_asked_with_the_token_of_the_settings(alone: Settings, address: str) -> None:
    target = ServerTarget.of(address, ())
    async with talking(alone, target=target, agent={"token": SecretStr("open-sesame")}) as talk:
        answer = await talk.ask(HOW)
        assert answer.sources[0].url == "https://zeppelin.example/start"
        assert "open-sesame" not in str(talk.session.transcript())
    for token, told in (
        ("", r"wants a token \(401\)\. Set HARRY"),
        ("wrong", r"refuses the token of HARRY_AGENT__TOKEN"),
    ):
        async with talking(alone, target=target, agent={"token": SecretStr(token)}) as talk:
            with pytest.raises(ServerUnavailable, match=told):
                await talk.ask(HOW)


async def test_a_token_travels_over_https_or_not_at_all() -> None:
    line = Connection(ServerTarget(url="http://docs.example.com/mcp"), AgentSection(token=SecretStr("t")))
    with pytest.raises(InputError, match="over https only"):
        await line.tools()


def test_servers_are_written_as_commands_or_addresses() -> None:
    own = ("harry", "serve")
    assert ServerTarget.of(" ", own).command == own
    assert ServerTarget.of('uvx "a b" --x', own).command == ("uvx", "a b", "--x")
    assert ServerTarget.of("HTTPS://x.example/mcp", own).url == "HTTPS://x.example/mcp"
    assert ServerTarget.of("https://me:pw@x.example/mcp?key=1", own).name == "https://x.example/mcp"
    assert ServerTarget.of("http://h.example:8000", own).usual == "http://h.example:8000/mcp"
    assert ServerTarget.of("http://h.example/mcp/", own).usual == ServerTarget.of("uvx x", own).usual == ""
    for wrong, advice in (
        ("https://", "names no host"),
        ("http://x.example:99999/mcp", "names no host"),
        ('harry "serve', "Check its quotes"),
        ("127.0.0.1:8000", "write the whole of it: http://127.0.0.1:8000/mcp"),
        ("localhost:8000/mcp", "write the whole of it: http://localhost:8000/mcp"),
        ("docs.example.com/mcp", "write the whole of it: https://docs.example.com/mcp"),
        ("ws://docs.example.com/mcp", "begin with http:// or https://"),
    ):
        with pytest.raises(InputError, match=advice):
            ServerTarget.of(wrong, own)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("outdated", ("outdated", (), "")),
        ("Wrong: [2] 3, it says so", ("wrong", (2, 3), "it says so")),
        ("other that is no good", ("other", (), "that is no good")),
    ],
)
def test_a_complaint_is_read_in_its_parts(text: str, parts: tuple[str, tuple[int, ...], str]) -> None:
    assert Complaint.of(text) == Complaint(*parts)


@pytest.mark.parametrize("text", ["", "that is no good", "2 wrong"])
def test_a_complaint_without_a_reason_is_told_which_there_are(text: str) -> None:
    with pytest.raises(InputError, match=r"/down needs a reason first: wrong, outdated, .* Nothing was sent\."):
        Complaint.of(text)


async def test_the_commands_take_a_server_and_end_with_the_code_of_its_kind(tmp_path: Path) -> None:
    command = f"'{sys.executable}' '{SCRIPT}'"
    done = await asyncio.to_thread(harry, "ask", HOW, "--server", command, "--json", HARRY_DATA_DIR=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "https://zeppelin.example/start" in done.stdout
    failed = await asyncio.to_thread(harry, "ask", "fail", HARRY_AGENT__SERVER=command)
    assert (failed.returncode, failed.stdout) == (ExitCode.FAILED, "")
    assert failed.stderr.endswith("harry: The database is away.[31m\n")
    gone = await asyncio.to_thread(harry, "ask", HOW, "--server", "http://127.0.0.1:1/mcp")
    assert gone.returncode == ExitCode.PROVIDER
    assert "cannot be used" in gone.stderr
    lines = f"die\n{HOW}\n"
    talked = await asyncio.to_thread(harry, "chat", "--server", command, given=lines)
    assert talked.returncode == 0
    assert "harry: The server went away during the search" in talked.stdout
    assert "Pull the lever" in talked.stdout
