"""The promises of the specification and the tests that prove them, checked in both directions."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SPECIFICATION = HERE.parents[1] / "shared" / "SPEC.md"

# The promises that are kept so far, wholly or in the part that the code has. One moves in here with its first test.
KEPT = frozenset(
    """RUN-1 RUN-2 RUN-3 RUN-4 RUN-5 RUN-6 RUN-7
    ING-1 ING-2 ING-3 ING-4 ING-5 ING-6 ING-7
    RET-1 RET-2 RET-3 RET-4 RET-5 RET-6 RET-7 RET-8 RET-9
    RNK-1 RNK-2 RNK-3 RNK-4
    VER-1 VER-2 VER-3 VER-4 VER-5 VER-6 VER-7 VER-8 VER-9
    COR-1 COR-2 COR-3 COR-4 COR-5 COR-6 COR-7 COR-8 COR-9 COR-10 COR-11
    CUR-1 CUR-2 CUR-3 CUR-4 CUR-5 CUR-6 CUR-7 CUR-8 CUR-9 CUR-10 CUR-11 CUR-12 CUR-13
    MCP-1 MCP-2 MCP-3 MCP-4 MCP-5 MCP-6 MCP-7 MCP-8 MCP-9 MCP-10 MCP-11 MCP-12 MCP-13
    EVL-1 EVL-2 EVL-3 EVL-4 EVL-5
    AGT-1 AGT-2 AGT-3 AGT-4 AGT-5
    OPS-1 OPS-2 OPS-3 OPS-4 OPS-5 OPS-6 OPS-7""".split()  # noqa: SIM905 - a table reads better than thirty strings
)


def marked() -> dict[str, list[str]]:
    """The tests that carry each id, on themselves or by their module's ``pytestmark``."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                marks: list[ast.expr] = list(node.decorator_list)
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                marks = [node.value]
            else:
                continue
            for mark in marks:
                for promise in re.findall(r"pytest\.mark\.promise\('([A-Z]{3}-\d+)'\)", ast.unparse(mark)):
                    found.setdefault(promise, []).append(path.name)
    return found


def test_every_promise_that_is_kept_has_a_test() -> None:
    assert sorted(KEPT - set(marked())) == []


def test_every_id_on_a_test_is_a_promise_that_is_kept() -> None:
    assert sorted(set(marked()) - KEPT) == []


def test_every_id_is_one_of_the_specification() -> None:
    if not SPECIFICATION.exists():
        pytest.skip("the specification is not beside this checkout")
    known = set(re.findall(r"^- ([A-Z]{3}-\d+) ", SPECIFICATION.read_text(encoding="utf-8"), re.MULTILINE))
    assert sorted(KEPT - known) == []
