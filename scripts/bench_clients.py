"""The section that searches from many sides at once: ten server processes on one database, then one process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from statistics import median, quantiles

import psycopg
from bench_corpus import Stored
from bench_figures import Table
from bench_server import HARRY, Server

from harry_mcp.app import App
from harry_mcp.cli.console import run
from harry_mcp.settings import Settings
from harry_mcp.storage.embedded import EmbeddedPostgres

_CLIENTS = 10
_EACH = 5
_ROUNDS = 5
_AT_ONCE = _CLIENTS * _EACH


def measure_clients(settings: Settings, size: int) -> Table:
    """Fifty new questions at once, some rounds of them; an error ends the benchmark, and so does a row too few."""
    table = Table(f"{_AT_ONCE} searches at once, {size:,} chunks")
    with closing(EmbeddedPostgres.start(settings.data_dir / "postgres")) as server:
        questions = Stored.read(server.dsn).questions(2 * (_ROUNDS + 1) * _AT_ONCE, "clients")
        rounds = [questions[start : start + _AT_ONCE] for start in range(0, len(questions), _AT_ONCE)]
        before = _written(server.dsn)
        _add(table, f"{_CLIENTS} clients with a process each", _from_processes(settings, rounds[: _ROUNDS + 1]))
        _add(table, "one process", run(_from_one_process(settings, rounds[_ROUNDS + 1 :])))
        written, asked = _written(server.dsn) - before, sum(map(len, rounds))
    if written != asked:
        raise RuntimeError(f"{asked} searches were answered, but {written} written down")
    table.notes.append(f"{_ROUNDS} rounds after one to warm up; {asked} searches, no error, {written} rows written")
    return table


def _add(table: Table, who: str, rounds: Sequence[Sequence[float]]) -> None:
    """Of each round the usual search and the slowest; their ratio within the round, for rounds differ with the load."""
    table.add(f"{who}, p50", [median(times) for times in rounds], "ms", tail=False)
    table.add(f"{who}, p99", [_p99(times) for times in rounds], "ms", tail=False)
    table.add(f"{who}, p99 / p50", [_p99(times) / median(times) for times in rounds], "x", "< 5", tail=False)


def _p99(times: Sequence[float]) -> float:
    return quantiles(times, n=100, method="inclusive")[-1]


def _from_processes(settings: Settings, rounds: Sequence[Sequence[str]]) -> list[list[float]]:
    with ExitStack() as stack:
        servers = [stack.enter_context(closing(Server(HARRY, settings.data_dir))) for _ in range(_CLIENTS)]
        for server in servers:
            server.hello()
        threads = stack.enter_context(ThreadPoolExecutor(_CLIENTS))
        times: list[list[float]] = []
        for questions in rounds:
            shares = [questions[start : start + _EACH] for start in range(0, _AT_ONCE, _EACH)]
            asked = threads.map(lambda server, share: server.search_at_once(share), servers, shares)
            times.append([each for share in asked for each in share])
    return times[1:]


async def _from_one_process(settings: Settings, rounds: Sequence[Sequence[str]]) -> list[list[float]]:
    async with await App.open(settings) as app:

        async def ask(question: str) -> float:
            start = time.perf_counter()
            await app.loop.search(question)
            return (time.perf_counter() - start) * 1000

        times: list[list[float]] = []
        for questions in rounds:
            times.append(await asyncio.gather(*map(ask, questions)))
            await app.loop.settled()
    return times[1:]


def _written(dsn: str) -> int:
    with psycopg.connect(dsn, options="-c search_path=harry,public") as connection:
        return int(connection.execute("SELECT count(*) FROM searches").fetchall()[0][0])
