"""The section that searches over HTTP from many clients for a while: errors, calls a second, and how long they take."""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from statistics import quantiles
from subprocess import DEVNULL, Popen
from typing import Any

import httpx
import psutil
from bench_corpus import Stored
from bench_figures import Table

from harry_mcp.cli.console import run
from harry_mcp.settings import PREFIX, Settings
from harry_mcp.storage.embedded import EmbeddedPostgres

CLIENTS = 16
_QUESTIONS = 2000
_NEWEST, _OLDER = "2026-07-28", "2025-06-18"
_META = {
    "io.modelcontextprotocol/protocolVersion": _NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


@dataclass(slots=True)
class Load:
    """What the clients saw. ``took`` in milliseconds, one for each call that was answered."""

    took: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])


def measure_http(settings: Settings, size: int, seconds: float, workers: int) -> Table:
    """Sixteen clients that ask one question after another, half of each generation; an error ends the benchmark."""
    processes = "1 process" if workers == 1 else f"{workers} processes"
    table = Table(f"http, {CLIENTS} clients for {seconds:g} s, {processes}, {size:,} chunks")
    with closing(EmbeddedPostgres.start(settings.data_dir / "postgres")) as server:
        questions = Stored.read(server.dsn).questions(_QUESTIONS, f"http {workers}")
        with _served(settings, workers) as (base, token, pid):
            load, lasted = run(_ask(base, token, itertools.cycle(questions), seconds))
            memory = _megabytes(pid)
    if load.errors:
        raise RuntimeError(f"{len(load.errors)} of {len(load.took)} calls failed: {load.errors[0]}")
    table.add("calls a second", [len(load.took) / lasted], "1/s")
    cuts = quantiles(load.took, n=100, method="inclusive")
    for percent in (50, 95, 99):
        table.add(f"search_kb, round trip, p{percent}", [cuts[percent - 1]], "ms")
    table.add("errors", [float(len(load.errors))], "calls", "0")
    table.add("memory of the server, all processes", [memory], "MB")
    again = max(0, len(load.took) - len(questions))
    table.notes.append(
        f"{len(load.took)} calls, {again} of them repeated questions; the clients take their share of it"
    )
    return table


async def _ask(base: str, token: str, questions: Iterator[str], seconds: float) -> tuple[Load, float]:
    load = Load()
    for number in range(CLIENTS):
        # The first ones open connections and load the model, which is not what is measured.
        await _client(base, token, number, iter([next(questions)]), float("inf"), Load())
    began = time.perf_counter()
    await asyncio.gather(*(_client(base, token, number, questions, began + seconds, load) for number in range(CLIENTS)))
    return load, time.perf_counter() - began


async def _client(base: str, token: str, number: int, questions: Iterator[str], until: float, load: Load) -> None:
    newest = number % 2 == 0
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": _NEWEST if newest else _OLDER,
    }
    named = {"Mcp-Method": "tools/call", "Mcp-Name": "search_kb"}
    async with httpx.AsyncClient(timeout=60, headers=headers | named if newest else headers) as http:
        for question in questions:
            if time.perf_counter() >= until:
                break
            params: dict[str, Any] = {"name": "search_kb", "arguments": {"query": question}}
            params |= {"_meta": _META} if newest else {}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            start = time.perf_counter()
            try:
                answer = await http.post(f"{base}/mcp", json=body)
                fault = _fault(answer)
            except httpx.HTTPError as error:
                fault = repr(error)
            load.took.append((time.perf_counter() - start) * 1000)
            if fault:
                load.errors.append(fault)


def _fault(answer: httpx.Response) -> str:
    """What is wrong with an answer; empty when nothing is. A degraded one counts: something was left out."""
    if answer.status_code != 200:
        return f"{answer.status_code} {answer.text[:200]}"
    result = answer.json().get("result", {})
    if result.get("isError") or result.get("structuredContent", {}).get("status") not in ("ok", "empty"):
        return answer.text[:300]
    return ""


@contextmanager
def _served(settings: Settings, workers: int) -> Generator[tuple[str, str, int], None, None]:
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(PREFIX)}
    token = secrets.token_urlsafe(32)
    environment |= {
        f"{PREFIX}DATA_DIR": str(settings.data_dir),
        f"{PREFIX}HTTP__TOKEN": token,
        f"{PREFIX}HTTP__CALLS_PER_MINUTE": "0",
    }
    command = [sys.executable, "-m", "harry_mcp.cli.main", "serve", "--http", "--port", "0", "--workers", str(workers)]
    with tempfile.NamedTemporaryFile("r", suffix=".log") as said, open(said.name, "w") as errors:  # noqa: PTH123
        process = Popen(command, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=errors)
        try:
            yield _address(process, said.name), token, process.pid
        finally:
            process.terminate()
            process.wait(timeout=60)


def _address(process: Popen[bytes], log: str) -> str:
    """Where it serves, once it says so."""
    while process.poll() is None:
        with open(log, encoding="utf-8") as said:  # noqa: PTH123
            text = said.read()
        if "Press Ctrl-C" in text:
            return text.partition("harry serves MCP at ")[2].partition("/mcp")[0]
        time.sleep(0.05)
    with open(log, encoding="utf-8") as said:  # noqa: PTH123
        raise RuntimeError(f"The server ended before it served: {said.read()[-500:]}")


def _megabytes(pid: int) -> float:
    process = psutil.Process(pid)
    return sum(each.memory_info().rss for each in (process, *process.children(recursive=True))) / 1e6
