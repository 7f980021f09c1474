"""Measures how fast the product starts, searches and ingests and what memory it takes, and prints plain tables.

    scripts/bench                          everything, on 600 and 10,000 chunks, growth up to 100,000
    scripts/bench start legs --chunks 600  two sections, one size
    scripts/bench growth --growth 1000 10000
    scripts/bench --json FILE              the same figures for scripts, beside the tables

Sections:

- start: process start to the answer to the first protocol message, of `harry serve` and of an empty `MCPServer` in
  turn; process start to the first search result, with the data folder there and PostgreSQL stopped or running;
  memory of the process (RSS) after 50 searches.
- legs: embedding one question; the keyword leg against rank_bm25 on the same terms; the vector leg against the bare
  pgvector query; whole searches in this process by stage, the first time and repeated.
- stdio: search_kb over a real process as a host sees it, the first time and repeated.
- clients: searches from several server processes at once, and from one process: errors, rows that were written, and how
  far the slowest is from the usual one.
- http: sixteen clients of both generations over HTTP for --seconds, against one process and against two: errors (any
  ends the benchmark), calls a second, and p50, p95 and p99 of a call.
- growth: each leg on 1,000, 10,000 and 100,000 chunks.
- ingest: chunks a second of the whole Ingester against the embedding model alone on the same texts.

What is compared is measured in turn within one run, so that a busy machine slows both; still, the load average is
printed with every section. The product's promises stand beside the figures. Nothing here judges them.

The corpus (bench_corpus.py) is made of the installed packages' descriptions. It goes into a PostgreSQL of its own
under a temporary folder; --data-dir keeps it, and then the next run need not fill it again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench_clients import measure_clients
from bench_corpus import Pool, fill, settings_for
from bench_figures import Matrix, Table, load_average
from bench_growth import measure_growth
from bench_http import measure_http
from bench_legs import measure_ingest, measure_legs
from bench_server import measure_start, measure_stdio

from harry_mcp.cli.console import run

_GROWTH = "growth"
SECTIONS = ("start", "legs", "stdio", "clients", "http", "growth", "ingest")


def main() -> None:
    """Run the sections that the command line names."""
    options = _options()
    began = time.perf_counter()
    sections: list[dict[str, object]] = []
    say(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, load {load_average()}")
    with _folder(options.data_dir) as folder:
        _fill(_wanted(folder, options))
        for section in SECTIONS:
            if section not in options.sections:
                continue
            before = load_average()
            tables = _measure(section, folder, options)
            for table in tables:
                say("", *table.lines())
            say(f"   load average {before} before, {load_average()} after")
            sections.append({"section": section, "load": before, "tables": [table.as_json() for table in tables]})
    say("", f"{time.perf_counter() - began:.0f} s in all")
    if options.json:
        report = {"machine": platform.platform(), "cores": os.cpu_count(), "sections": sections}
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, prog="scripts/bench", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"any of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--chunks", nargs="+", type=int, default=[600, 10_000], metavar="N", help="corpus sizes")
    parser.add_argument(
        "--growth",
        nargs="+",
        type=int,
        default=[1000, 10_000, 100_000],
        metavar="N",
        help="sizes of the growth section",
    )
    parser.add_argument("--queries", type=int, default=100, metavar="N", help="questions a figure (default: 100)")
    parser.add_argument("--runs", type=int, default=7, metavar="N", help="process starts a figure (default: 7)")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N", help="seconds of http (default: 60)")
    parser.add_argument("--ingest-runs", type=int, default=5, metavar="N", help="rounds of ingest (default: 5)")
    parser.add_argument("--data-dir", type=Path, metavar="FOLDER", help="keep the filled databases here")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    options = parser.parse_args()
    if unknown := [name for name in options.sections if name not in SECTIONS]:
        parser.error(f"there is no section {unknown[0]!r}; the sections are {', '.join(SECTIONS)}")
    options.sections = options.sections or list(SECTIONS)
    options.chunks.sort()
    options.growth.sort()
    return options


def _wanted(folder: Path, options: argparse.Namespace) -> dict[Path, int]:
    """The knowledge bases that the sections need. Growth has its own, for it adds memories to them."""
    own = options.chunks if set(options.sections) & {"start", "legs", "stdio", "clients", "http"} else []
    grown = options.growth if "growth" in options.sections else []
    return {folder / str(size): size for size in own} | {folder / _GROWTH / str(size): size for size in grown}


@contextmanager
def _folder(kept: Path | None) -> Generator[Path, None, None]:
    if kept is not None:
        yield kept.expanduser().resolve()
        return
    with tempfile.TemporaryDirectory(prefix="harry-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _fill(wanted: dict[Path, int]) -> None:
    pool = Pool()
    for folder, size in wanted.items():
        started = time.perf_counter()
        there = run(fill(settings_for(folder), size, pool))
        say(f"a knowledge base of {there:,} chunks is there ({time.perf_counter() - started:.0f} s)")


def _measure(section: str, folder: Path, options: argparse.Namespace) -> Sequence[Table | Matrix]:
    """The tables of one section. Every size has a data folder of its own, as a user's would be."""
    sizes = {size: settings_for(folder / str(size)) for size in options.chunks}
    grown = {size: settings_for(folder / _GROWTH / str(size)) for size in options.growth}
    match section:
        case "start":
            return [measure_start(sizes[options.chunks[0]], options.runs)]
        case "legs":
            return [table for size in sizes for table in run(measure_legs(sizes[size], size, options.queries))]
        case "stdio":
            return [measure_stdio(sizes[size], size, options.queries) for size in sizes]
        case "clients":
            return [measure_clients(sizes[size], size) for size in sizes]
        case "http":
            return [measure_http(sizes[size], size, options.seconds, workers) for size in sizes for workers in (1, 2)]
        case "growth":
            return [run(measure_growth(grown, options.queries))]
        case _:
            return [run(measure_ingest(settings_for(folder / "ingest"), options.ingest_runs))]


if __name__ == "__main__":
    main()
