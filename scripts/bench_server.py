"""The sections that start ``harry serve`` and speak to it as a host does: start, memory and stdio."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any

import psutil
from bench_corpus import Stored
from bench_figures import Table, timed

from harry_mcp.settings import PREFIX, Settings
from harry_mcp.storage.embedded import EmbeddedPostgres

HARRY = [sys.executable, "-m", "harry_mcp.cli.main", "serve"]
EMPTY = [sys.executable, "-c", 'from mcp.server.mcpserver import MCPServer\nMCPServer("empty").run()']
_VERSION = "2025-06-18"
_MEMORY_SEARCHES = 50


class Server:
    """A server process, spoken to line by line."""

    def __init__(self, command: list[str], data_dir: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
        environment[f"{PREFIX}DATA_DIR"] = str(data_dir)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._started = time.perf_counter()
        self._process = Popen(command, env=environment, stdin=PIPE, stdout=PIPE, stderr=self._errors)
        self._asked = 0

    @property
    def seconds(self) -> float:
        """Since the process was started."""
        return time.perf_counter() - self._started

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one request."""
        self._asked += 1
        self._send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._asked:
                if "result" not in answer:
                    raise RuntimeError(f"{method} was refused: {answer}")
                return answer["result"]
        self._errors.seek(0)
        raise RuntimeError(f"The server ended: {self._errors.read().decode(errors='replace')}")

    def hello(self) -> None:
        """The handshake that a host opens with."""
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def search(self, question: str) -> dict[str, Any]:
        """What search_kb answers, in its structured form."""
        result = self.ask("tools/call", {"name": "search_kb", "arguments": {"query": question}})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]

    def search_at_once(self, questions: Sequence[str]) -> list[float]:
        """Ask several questions without waiting for an answer, and the milliseconds until each was there."""
        sent: dict[int, float] = {}
        took: list[float] = []
        for question in questions:
            self._asked += 1
            params = {"name": "search_kb", "arguments": {"query": question}}
            self._send({"jsonrpc": "2.0", "id": self._asked, "method": "tools/call", "params": params})
            sent[self._asked] = time.perf_counter()
        assert self._process.stdout is not None
        while sent:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") not in sent:
                continue
            took.append((time.perf_counter() - sent.pop(answer["id"])) * 1000)
            if "result" not in answer or answer["result"].get("isError"):
                raise RuntimeError(f"a search was refused: {answer}")
        return took

    def megabytes(self) -> float:
        return psutil.Process(self._process.pid).memory_info().rss / 1e6

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def measure_start(settings: Settings, runs: int) -> Table:
    """Process start to the first message and to the first result, and the memory after some searches."""
    with _postgres(settings) as dsn:
        questions = Stored.read(dsn).questions(_MEMORY_SEARCHES, "start")
    table = Table("start")
    harry: list[float] = []
    empty: list[float] = []
    for _ in range(runs):
        harry.append(_first_message(HARRY, settings.data_dir))
        empty.append(_first_message(EMPTY, settings.data_dir))
    table.add("first message, harry serve", harry, "s")
    table.add("first message, empty MCPServer", empty, "s")
    table.add(
        "first message, harry later by",
        [ours - bare for ours, bare in zip(harry, empty, strict=True)],
        "s",
        "<= +0.5 s",
    )
    cold = [_first_result(settings.data_dir, questions[0]) for _ in range(runs)]
    table.add("first search result, PostgreSQL stopped before", cold, "s", "< 3 s")
    with _postgres(settings):
        attached = [_first_result(settings.data_dir, questions[0]) for _ in range(runs)]
    table.add("first search result, PostgreSQL running", attached, "s", "< 3 s")
    with closing(Server(HARRY, settings.data_dir)) as server:
        server.hello()
        for question in questions:
            server.search(question)
        table.add(f"memory of harry serve after {len(questions)} searches", [server.megabytes()], "MB", "< 350 MB")
    table.notes.append(
        f"{runs} runs each, alternating; the data folder holds the smallest corpus; PostgreSQL's memory is not counted"
    )
    return table


def measure_stdio(settings: Settings, size: int, count: int) -> Table:
    """A search over standard input and output as the host sees it, and as the server times it itself."""
    with _postgres(settings) as dsn:
        questions = Stored.read(dsn).questions(count + 10, "stdio")
    table = Table(f"stdio, {size:,} chunks")
    with closing(Server(HARRY, settings.data_dir)) as server:
        server.hello()
        for question in questions[count:]:
            server.search(question)
        for label, promise in (("first time", ""), ("repeated", "< 10 ms")):
            outside: list[float] = []
            inside: list[float] = []
            for question in questions[:count]:
                with timed(outside):
                    reply = server.search(question)
                inside.append(reply["timings_ms"]["total"])
            table.add(f"search_kb, {label}, round trip", outside, "ms")
            table.add(f"search_kb, {label}, at the server", inside, "ms", promise)
        table.add("memory of harry serve afterwards", [server.megabytes()], "MB", "< 350 MB")
    table.notes.append(f"{len(questions[:count])} distinct questions, then the same again")
    return table


@contextmanager
def _postgres(settings: Settings) -> Generator[str, None, None]:
    with closing(EmbeddedPostgres.start(settings.data_dir / "postgres")) as server:
        yield server.dsn


def _first_message(command: list[str], data_dir: Path) -> float:
    with closing(Server(command, data_dir)) as server:
        server.hello()
        return server.seconds


def _first_result(data_dir: Path, question: str) -> float:
    with closing(Server(HARRY, data_dir)) as server:
        server.hello()
        server.search(question)
        return server.seconds
