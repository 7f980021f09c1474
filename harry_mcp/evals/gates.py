"""Gates: what a run must reach, for CI.

A gate is ``figure>=number`` (also ``>``, ``<=``, ``<``), or ``last``: nothing is worse than in the last run by more
than chance. Several are joined by commas. A file holds one or more a line; ``#`` begins a comment. A figure is one of
the last rung (``pass@5``), of a named one (``hybrid.pass@5``), ``auroc``, ``ece``, ``balanced_ece``, one of a band
(``strong.answerable``, ``weak.answered``, ``moderate.questions``) or a median (``latency.total``, in milliseconds).
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harry_mcp.domain.search import Band
from harry_mcp.errors import EvalError
from harry_mcp.evals import figures as figure_values
from harry_mcp.evals.answers import Answer, Stage
from harry_mcp.evals.comparing import AUROC, ECE, Change

_GATE = re.compile(r"^(?P<figure>[a-z][\w.@]*)\s*(?P<sign>>=|<=|>|<)\s*(?P<bound>-?\d+(?:\.\d+)?)$")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
LAST = "last"


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition; ``last`` has no sign."""

    figure: str
    sign: str = ""
    bound: float = 0.0

    def __str__(self) -> str:
        return f"{self.figure}{self.sign}{self.bound:g}" if self.sign else self.figure


@dataclass(frozen=True, slots=True)
class Held:
    """What became of a gate: whether it held, and what was measured, in words."""

    gate: str
    held: bool
    measured: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def parse(texts: Sequence[str], known: Collection[str] = ()) -> list[Gate]:
    """The gates of some options, each an expression or the path of a file of them.

    ``known`` are the figures of another evaluation than ``harry eval run``, which compares with no earlier run.

    Raises:
        EvalError: one is neither, or is on a figure that no run gives; the nearest one is named.
    """
    return [gate for text in texts for gate in _parsed(text, known)]


def _parsed(text: str, known: Collection[str]) -> list[Gate]:
    path = Path(text)
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else [text]
    except (OSError, UnicodeDecodeError) as error:
        raise EvalError(f"The gates in {text} cannot be read: {error}.") from error
    parts = [part.strip() for line in lines for part in line.partition("#")[0].split(",")]
    return [_gate(part, known) for part in parts if part]


def _gate(text: str, others: Collection[str]) -> Gate:
    if text == LAST and not others:
        return Gate(LAST)
    match = _GATE.match(text)
    if match is None:
        raise EvalError(
            f"{text!r} is no gate and no file of gates. Write one as {_example(others)}; the --help of the command "
            "names the figures."
        )
    figure = match["figure"]
    known = others or _known()
    if figure not in known and (others or not figure.startswith("latency.")):
        close = difflib.get_close_matches(figure, known, n=1)
        hint = f" Did you mean {close[0]}?" if close else " The --help of the command names them."
        raise EvalError(f"There is no figure {figure!r} to put a gate on.{hint}")
    return Gate(figure, match["sign"], float(match["bound"]))


def _example(others: Collection[str]) -> str:
    return f"{min(others)}>=0.8" if others else "pass@5>=0.85, ece<=0.09, or last"


def names(figures: Mapping[str, Any]) -> dict[str, float]:
    """Every figure that a gate may name."""
    verdict = figures["verdict"]
    found = {f"{stage}.{name}": v for stage, values in figures["retrieval"].items() for name, v in values.items()}
    last = [stage.value for stage in Stage if stage in figures["retrieval"]][-1]
    found |= figures["retrieval"][last]
    found |= {
        AUROC: verdict["auroc"],
        ECE: verdict["expected_calibration_error"],
        f"balanced_{ECE}": verdict["balanced_calibration_error"],
    }
    found |= {f"{band}.{name}": v for band, values in verdict["bands"].items() for name, v in values.items()}
    return found | {f"latency.{name}": value for name, value in figures["latency_ms"].items()}


def check(gates: Sequence[Gate], figures: Mapping[str, Any], changes: Sequence[Change] | None) -> list[Held]:
    """What became of each gate. ``changes`` is None when there is no run to compare with; then ``last`` holds."""
    there = names(figures)
    return [_last(changes) if gate.figure == LAST else _bound(gate, there.get(gate.figure)) for gate in gates]


def check_named(gates: Sequence[Gate], there: Mapping[str, float]) -> list[Held]:
    """What became of gates on figures by name."""
    return [_bound(gate, there.get(gate.figure)) for gate in gates]


def _known() -> set[str]:
    """Every figure that any run may give, but for the steps of the latency."""
    nobody = Answer(id="", answerable=True, relevant=1, found=0, score=0, band=Band.WEAK, ranks={})
    verdict = figure_values.verdict([0.0], [Band.WEAK], [nobody])
    shape = {
        "retrieval": {stage.value: dict.fromkeys(figure_values.MEASURES, 0.0) for stage in Stage},
        "verdict": verdict,
    }
    return set(names({**shape, "latency_ms": {}}))


def _bound(gate: Gate, value: float | None) -> Held:
    if value is None or value == figure_values.NONE:
        return Held(str(gate), False, "this run does not give it")
    return Held(str(gate), _SIGNS[gate.sign](value, gate.bound), f"{value:g}")


def _last(changes: Sequence[Change] | None) -> Held:
    if changes is None:
        return Held(LAST, True, "there is no earlier run of this golden set to compare with")
    worse = [change for change in changes if change.verdict == "worse"]
    said = ", ".join(f"{change.figure} {change.before:.3f} to {change.now:.3f}" for change in worse)
    return Held(LAST, not worse, f"worse: {said}" if worse else f"none of {len(changes)} figures is worse")
