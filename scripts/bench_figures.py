"""Figures and tables: what a section of the benchmark hands back, and how it is printed."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of a table. ``p95`` is None where there is no sense in one; ``promise`` is what the product says."""

    name: str
    median: float
    p95: float | None
    unit: str
    promise: str


@dataclass(slots=True)
class Table:
    """Some figures under a title."""

    title: str
    figures: list[Figure] = field(default_factory=list[Figure])
    notes: list[str] = field(default_factory=list[str])

    def add(self, name: str, samples: Sequence[float], unit: str, promise: str = "", *, tail: bool = True) -> None:
        """Enter the median of samples, and their 95th percentile when there are enough of them."""
        p95 = quantiles(samples, n=20, method="inclusive")[-1] if tail and len(samples) >= 20 else None
        self.figures.append(Figure(name=name, median=median(samples), p95=p95, unit=unit, promise=promise))

    def lines(self) -> list[str]:
        """The table as text, one line a figure."""
        rows = [("", "median", "p95", "unit", "promised")]
        rows += [(f.name, _short(f.median), _short(f.p95), f.unit, f.promise) for f in self.figures]
        wide = [max(len(row[column]) for row in rows) for column in range(4)]
        head = f"== {self.title}"
        body = [
            f"{row[0]:<{wide[0]}}  {row[1]:>{wide[1]}}  {row[2]:>{wide[2]}}  {row[3]:<{wide[3]}}  {row[4]}".rstrip()
            for row in rows
        ]
        return [head, *body, *(f"   {note}" for note in self.notes)]

    def as_json(self) -> dict[str, object]:
        figures = {
            f.name: {"median": f.median, "p95": f.p95, "unit": f.unit, "promised": f.promise} for f in self.figures
        }
        return {"title": self.title, "figures": figures, "notes": self.notes}


@dataclass(slots=True)
class Matrix:
    """Medians with a column for each of several cases."""

    title: str
    columns: Sequence[str]
    rows: list[tuple[str, Sequence[float]]] = field(default_factory=list[tuple[str, Sequence[float]]])
    notes: list[str] = field(default_factory=list[str])

    def add(self, name: str, values: Sequence[float]) -> None:
        """Enter a line, one value for each column."""
        self.rows.append((name, values))

    def lines(self) -> list[str]:
        """The table as text, one line a row."""
        cells = [("", *self.columns), *((name, *map(_short, values)) for name, values in self.rows)]
        wide = [max(len(row[column]) for row in cells) for column in range(len(self.columns) + 1)]
        body = [
            "  ".join(
                [f"{row[0]:<{wide[0]}}", *(f"{cell:>{width}}" for cell, width in zip(row[1:], wide[1:], strict=True))]
            )
            for row in cells
        ]
        return [f"== {self.title}", *body, *(f"   {note}" for note in self.notes)]

    def as_json(self) -> dict[str, object]:
        figures = {name: dict(zip(self.columns, values, strict=True)) for name, values in self.rows}
        return {"title": self.title, "figures": figures, "notes": self.notes}


@contextmanager
def timed(into: list[float]) -> Generator[None, None, None]:
    """Append the milliseconds that the block takes."""
    start = time.perf_counter()
    yield
    into.append((time.perf_counter() - start) * 1000)


def load_average() -> str:
    """The load average of the last minute, where the system keeps one."""
    return f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"


def _short(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"
