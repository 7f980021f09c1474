"""Measures how fast the product starts, searches and ingests and what memory it takes, and prints plain tables.

    scripts/bench                          everything, on 600 and 10,000 chunks
    scripts/bench start legs --chunks 600  two sections, one size
    scripts/bench --json FILE              the same figures for scripts, beside the tables

Sections:

- start: process start to the answer to the first protocol message, of `harry serve` and of an empty `MCPServer` in
  turn; process start to the first search result, with the data folder there and PostgreSQL stopped or running;
  memory of the process (RSS) after 50 searches.
- legs: embedding one question; the keyword leg against rank_bm25 on the same terms; the vector leg against the bare
  pgvector query; whole searches in this process by stage, the first time and repeated.
- stdio: search_kb over a real process as a host sees it, the first time and repeated.
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
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bench_corpus import Pool, fill, settings_for
from bench_figures import Table, load_average
from bench_legs import measure_ingest, measure_legs
from bench_server import measure_start, measure_stdio

from harry_mcp.cli.console import run

SECTIONS = ("start", "legs", "stdio", "ingest")


def main() -> None:
    """Run the sections that the command line names."""
    options = _options()
    began = time.perf_counter()
    sections: list[dict[str, object]] = []
    say(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, load {load_average()}")
    with _folder(options.data_dir) as folder:
        if options.sections != ["ingest"]:
            _fill(folder, options.chunks)
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
    parser.add_argument("--queries", type=int, default=100, metavar="N", help="questions a figure (default: 100)")
    parser.add_argument("--runs", type=int, default=7, metavar="N", help="process starts a figure (default: 7)")
    parser.add_argument("--ingest-runs", type=int, default=5, metavar="N", help="rounds of ingest (default: 5)")
    parser.add_argument("--data-dir", type=Path, metavar="FOLDER", help="keep the filled databases here")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    options = parser.parse_args()
    if unknown := [name for name in options.sections if name not in SECTIONS]:
        parser.error(f"there is no section {unknown[0]!r}; the sections are {', '.join(SECTIONS)}")
    options.sections = options.sections or list(SECTIONS)
    options.chunks.sort()
    return options


@contextmanager
def _folder(kept: Path | None) -> Generator[Path, None, None]:
    if kept is not None:
        yield kept.expanduser().resolve()
        return
    with tempfile.TemporaryDirectory(prefix="harry-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _fill(folder: Path, sizes: list[int]) -> None:
    pool = Pool()
    for size in sizes:
        started = time.perf_counter()
        there = run(fill(settings_for(folder / str(size)), size, pool))
        say(f"a knowledge base of {there:,} chunks is there ({time.perf_counter() - started:.0f} s)")


def _measure(section: str, folder: Path, options: argparse.Namespace) -> list[Table]:
    """The tables of one section. Every size has a data folder of its own, as a user's would be."""
    sizes = {size: settings_for(folder / str(size)) for size in options.chunks}
    match section:
        case "start":
            return [measure_start(sizes[options.chunks[0]], options.runs)]
        case "legs":
            return [table for size in sizes for table in run(measure_legs(sizes[size], size, options.queries))]
        case "stdio":
            return [measure_stdio(sizes[size], size, options.queries) for size in sizes]
        case _:
            return [run(measure_ingest(settings_for(folder / "ingest"), options.ingest_runs))]


if __name__ == "__main__":
    main()
