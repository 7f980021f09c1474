"""AGT-3, AGT-5: a `harry serve --http` that goes away in a conversation, comes back, asks to wait or lets nobody in."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from harry_mcp.agent.answers import Calling, Outcome
from harry_mcp.agent.connection import Connection
from harry_mcp.agent.reporting_back import correcting, praising
from harry_mcp.agent.target import ServerTarget
from harry_mcp.cli.console import ExitCode
from harry_mcp.errors import InputError, ServerBusy, ServerUnavailable
from harry_mcp.settings import AgentSection, Settings, child_environment
from tests.agent.chatting import Talk, talking
from tests.agent.test_local import harry
from tests.console.served import TOKEN, served, with_database
from tests.loop.small_base import QUESTION

pytestmark = [
    pytest.mark.promise("AGT-3"),
    pytest.mark.promise("AGT-5"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals stop and end a server there in other ways"),
]
LET_IN = {"token": SecretStr(TOKEN)}
FREE = {"HARRY_HTTP__CALLS_PER_MINUTE": "0"}
GONE = "went away during the search|cannot be used: nothing answers"


class Line:
    """A way to a server that can be cut: connections are then reset, with what is under way on them."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: list[asyncio.StreamWriter] = []
        self.cut_at_next_byte = False
        self.answer_next = b""
        self.url = ""

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._open += [writer, back]
        answers = asyncio.create_task(self._pump(there, writer))
        await self._pump(reader, back, writer)
        answers.cancel()
        await asyncio.wait({answers})

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client: asyncio.StreamWriter | None = None
    ) -> None:
        while data := await reader.read(65_536):
            if self.answer_next and client is not None:
                client.write(self.answer_next)
                self.answer_next = b""
                await client.drain()
                client.close()
                return
            if self.cut_at_next_byte:
                self.cut()
                return
            writer.write(data)
            await writer.drain()

    def cut(self) -> None:
        for each in self._open:
            if each.is_closing():
                continue
            opened = each.get_extra_info("socket")
            # To be closed with a reset and not in order.
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            each.transport.abort()
        self._open.clear()


@asynccontextmanager
async def line_to(base: str) -> AsyncGenerator[Line]:
    line = Line(int(base.rpartition(":")[2]))
    server = await asyncio.start_server(line.carry, "127.0.0.1", 0)
    line.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    try:
        yield line
    finally:
        line.cut()
        server.close()
        await server.wait_closed()


def port_of(base: str) -> str:
    return base.rpartition(":")[2]


async def asked_of_a_stopped_server(talk: Talk, process: subprocess.Popen[str], ending: signal.Signals) -> None:
    """A question that is under way when the server ends."""
    process.send_signal(signal.SIGSTOP)
    called = asyncio.Event()
    asking = asyncio.create_task(
        talk.session.conversation.ask(QUESTION, lambda event: called.set() if isinstance(event, Calling) else None)
    )
    await called.wait()
    process.send_signal(ending)
    process.send_signal(signal.SIGCONT)
    await asyncio.to_thread(process.wait, 60)
    with pytest.raises(ServerUnavailable, match=GONE):
        await asking


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
async def test_the_conversation_outlives_the_server_and_goes_on_when_it_is_back(
    base: Settings, tmp_path: Path, ending: signal.Signals
) -> None:
    given = with_database(base) | FREE
    with served(tmp_path, **given) as first:
        target = ServerTarget(url=f"{first.base}/mcp")
        async with talking(base, target=target, agent=LET_IN) as talk:
            good = await talk.ask(QUESTION)
            if ending is signal.SIGKILL:
                await asked_of_a_stopped_server(talk, first.process, ending)
            else:
                first.process.terminate()
                await asyncio.to_thread(first.process.wait, 60)
            for _ in range(2):
                with pytest.raises(ServerUnavailable, match=GONE):
                    await talk.ask(QUESTION)
            with pytest.raises(InputError, match="last question got no answer"):
                _ = talk.session.last
            assert talk.session.conversation.answers == [good]
            with served(tmp_path, "--port", port_of(first.base), **given):
                again = await talk.ask(QUESTION)
                assert (again.outcome, talk.session.last) == (Outcome.ANSWERED, again)
            kept = talk.session.transcript()["unanswered"]
            assert [each["question"] for each in kept] == [QUESTION] * (3 if ending is signal.SIGKILL else 2)


async def test_a_connection_that_is_reset_is_told_and_the_next_question_works(base: Settings, tmp_path: Path) -> None:
    with served(tmp_path, **with_database(base), **FREE) as server:
        async with (
            line_to(server.base) as line,
            talking(base, target=ServerTarget(url=line.url), agent=LET_IN) as talk,
        ):
            assert (await talk.ask(QUESTION)).outcome is Outcome.ANSWERED
            line.cut_at_next_byte = True
            with pytest.raises(ServerUnavailable, match="during the search: it broke off the connection"):
                await talk.ask(QUESTION)
            line.cut_at_next_byte = False
            line.cut()
            assert (await talk.ask(QUESTION)).outcome is Outcome.ANSWERED
            # As a server answers that was started anew and knows the session no more: it has done nothing yet.
            line.answer_next = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
            assert (await talk.ask(QUESTION)).outcome is Outcome.ANSWERED
            assert not line.answer_next
            line.answer_next = b"HTTP/1.1 503 Busy\r\nRetry-After: 90\r\nContent-Length: 0\r\n\r\n"
            with pytest.raises(ServerBusy, match=r"\(503\)\. Ask again in 90 s\."):
                await talk.ask(QUESTION)


async def test_what_was_said_of_an_answer_is_kept_until_the_server_is_back(fresh: Settings, tmp_path: Path) -> None:
    given = with_database(fresh) | FREE
    truth = "After rotation the old API key stops working at once."
    with served(tmp_path, **given) as first:
        async with talking(fresh, target=ServerTarget(url=f"{first.base}/mcp"), agent=LET_IN) as talk:
            outbox = talk.session.outbox
            answer = await talk.ask(QUESTION)
            first.process.kill()
            await asyncio.to_thread(first.process.wait, 60)
            for report in (correcting(answer, truth), praising(answer)):
                with pytest.raises(ServerUnavailable, match="was not sent; it is kept, and /again sends it"):
                    await outbox.send(report)
            with pytest.raises(ServerUnavailable):
                await outbox.again()
            assert [each.report.line for each in outbox.waiting] == [f"/correct {truth}", "/up"]
            with served(tmp_path, "--port", port_of(first.base), **given):
                told = await outbox.again()
                assert told[0].startswith(f"/correct {truth}")
                assert "Stored; it " in told[1]
                assert told[3].startswith("The answer is a candidate")
                assert outbox.waiting == []
                with pytest.raises(InputError, match="Nothing waits"):
                    await outbox.again()
            kept = talk.session.transcript()["feedback"]
            assert [(each["kind"], each["answer"], each["arrived"]) for each in kept] == [
                ("correct", 1, True),
                ("up", 1, True),
            ]


async def asked_until_refused(connection: Connection) -> None:
    for _ in range(20):
        await connection.call("search_kb", {"query": QUESTION})


async def test_a_busy_server_is_waited_for_shortly_or_told_with_its_seconds(base: Settings, tmp_path: Path) -> None:
    few = {"HARRY_HTTP__CALLS_PER_MINUTE": "60", "HARRY_HTTP__BURST": "3"}
    with served(tmp_path, **with_database(base), **few) as server:
        target, told = ServerTarget(url=f"{server.base}/mcp"), list[str]()
        patient = Connection(target, AgentSection(token=SecretStr(TOKEN)), told.append)
        for _ in range(5):
            assert (await patient.call("search_kb", {"query": QUESTION})).structured
        assert "The server asks to wait 1 s. It is asked once more then." in told
        hasty = Connection(target, AgentSection(token=SecretStr(TOKEN), busy_seconds=0))
        with pytest.raises(ServerBusy, match=r"no more requests for now \(429\)\. Ask again in 1 s\.") as busy:
            await asked_until_refused(hasty)
        assert 0 < busy.value.seconds <= 1
        await patient.close()
        await hasty.close()


async def test_a_token_that_ends_in_the_middle_is_told(base: Settings, tmp_path: Path) -> None:
    given = with_database(base) | FREE
    with served(tmp_path, **given) as first:
        async with talking(base, target=ServerTarget(url=f"{first.base}/mcp"), agent=LET_IN) as talk:
            answer = await talk.ask(QUESTION)
            first.process.kill()
            await asyncio.to_thread(first.process.wait, 60)
            other = "another-token-of-the-tests-0123456789"
            with served(tmp_path, "--port", port_of(first.base), **given | {"HARRY_HTTP__TOKEN": other}):
                with pytest.raises(ServerUnavailable, match=r"refuses the token of HARRY_AGENT__TOKEN \(401\)") as told:
                    await talk.session.outbox.send(praising(answer))
                assert "Your praise was not sent" in str(told.value)


async def test_the_commands_tell_in_a_sentence_and_the_chat_goes_on(base: Settings, tmp_path: Path) -> None:
    given = with_database(base) | FREE
    with served(tmp_path, **given) as first:
        url = f"{first.base}/mcp"
        chat = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-m", "harry_mcp.cli.main", "chat", "--server", url,
            env=child_environment(HARRY_AGENT__TOKEN=TOKEN, ANTHROPIC_API_KEY="", HARRY_DATA_DIR=str(tmp_path)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert chat.stdin is not None
        assert chat.stdout is not None

        async def say(line: str, until: str) -> str:
            assert chat.stdin is not None
            assert chat.stdout is not None
            chat.stdin.write(f"{line}\n".encode())
            heard = ""
            while until not in heard:
                read = await asyncio.wait_for(chat.stdout.readline(), 60)
                assert read, f"the chat ended after {heard!r}"
                heard += read.decode()
            return heard

        assert "press Rotate" in await say(QUESTION, "Sources")
        first.process.kill()
        await asyncio.to_thread(first.process.wait, 60)
        assert "during the search: nothing answers there" in await say(QUESTION, "harry: ")
        assert "cannot be used: nothing answers there (connection refused)." in await say(QUESTION, "harry: ")
        assert "The last question got no answer" in await say("/up", "harry: ")
        with served(tmp_path, "--port", port_of(first.base), **given):
            assert "press Rotate" in await say(QUESTION, "Sources")
        out, _ = await asyncio.wait_for(chat.communicate(b""), 60)
        assert chat.returncode == 0, out
    gone = await asyncio.to_thread(harry, "ask", QUESTION, "--server", url, "--json")
    assert (gone.returncode, gone.stdout) == (ExitCode.PROVIDER, "")
    assert gone.stderr.count("\n") == 1


@pytest.mark.parametrize(("level", "logs"), [("", False), ("WARNING", True)], ids=["not asked for", "asked for"])
async def test_what_our_own_server_logs_is_shown_to_those_who_ask_for_it(
    tmp_path: Path, level: str, logs: bool
) -> None:
    given = {"HARRY_DATABASE_URL": "postgresql://u:hush@127.0.0.1:1/none", "HARRY_DATA_DIR": str(tmp_path)}
    told = await asyncio.to_thread(harry, "ask", QUESTION, HARRY_LOG_LEVEL=level, **given)
    assert told.returncode == ExitCode.DATABASE
    assert "harry: PostgreSQL cannot be reached" in told.stderr
    assert any(line.startswith("{") for line in told.stderr.splitlines()) is logs


@pytest.mark.parametrize("body", ["<html>hello</html>", json.dumps({"hello": 1})])
async def test_what_answers_and_is_no_mcp_server_is_told(body: str) -> None:
    kind = "text/html" if body.startswith("<") else "application/json"
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    with pytest.raises(ServerUnavailable, match=r"no MCP server\. harry serves at http://127\.0\.0\.1:\d+/mcp\.$"):
        await _opened(answer)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", r"none at that address \(404\)\. harry serves at "),
        (b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", r"another address \(302\): /login"),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", r"an error of its own \(502\)\. It may be starting"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", r"lets nobody in \(403\)"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no MCP server"),
    ],
    ids=["no such path", "elsewhere", "bad gateway", "forbidden", "another protocol"],
)
async def test_what_an_address_answers_is_told_in_a_sentence(answer: bytes, told: str) -> None:
    with pytest.raises(ServerUnavailable, match=told):
        await _opened(answer)


async def _opened(answer: bytes) -> None:
    """Ask a server for its tools that gives one answer to everything."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    connection = Connection(
        ServerTarget(url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"), AgentSection(connect_seconds=10)
    )
    try:
        await connection.tools()
    finally:
        await connection.close()
        server.close()
        await server.wait_closed()
