"""Every named statement has a purpose and a user, and PostgreSQL accepts each against the migrated schema."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection

import harry_mcp
from harry_mcp.errors import StorageError
from harry_mcp.settings import Settings
from harry_mcp.storage import queries
from harry_mcp.storage.queries import Query
from harry_mcp.storage.scratch import scratch_database

pytestmark = pytest.mark.promise("OPS-2")

PACKAGE = Path(harry_mcp.__file__).parent
AGGREGATES = sorted(
    entry.name.removesuffix(".sql")
    for entry in resources.files("harry_mcp.storage.sql").iterdir()
    if entry.name.endswith(".sql")
)
ALL = {f"{aggregate}.{name}": query for aggregate in AGGREGATES for name, query in queries.load(aggregate).items()}
NUMBERS = {"space": 1, "dimension": 384}


class Used(ast.NodeVisitor):
    """The names that one module takes from each aggregate that it loads."""

    def __init__(self, tree: ast.Module) -> None:
        self.loaded: dict[str, str] = {}
        self.taken: dict[str, set[str]] = {}
        self.strings: set[str] = set()
        self.visit(tree)

    def visit_Assign(self, node: ast.Assign) -> None:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id="queries"), attr="load"), args=[ast.Constant(value=str(file))]
                ),
            ):
                self.loaded[name] = file
            case _:
                pass
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in self.loaded:
            # Either name of `_SQL["a" if new else "b"]`
            branches = [node.slice.body, node.slice.orelse] if isinstance(node.slice, ast.IfExp) else [node.slice]
            names = {branch.value for branch in branches if isinstance(branch, ast.Constant)}
            self.taken.setdefault(self.loaded[node.value.id], set()).update(str(name) for name in names)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.strings.add(node.value)


def modules() -> Iterator[tuple[Path, Used]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, Used(ast.parse(path.read_text(encoding="utf-8")))


def test_every_query_is_used_and_every_name_used_is_there() -> None:
    used: dict[str, set[str]] = {aggregate: set() for aggregate in AGGREGATES}
    for path, module in modules():
        for aggregate in module.loaded.values():
            known = set(queries.load(aggregate))
            taken = module.taken.get(aggregate, set())
            assert taken <= known, f"{path}: {aggregate} has no {taken - known}"
            # `_SQL[action]`: the name stands elsewhere in the module
            used[aggregate] |= taken or (known & module.strings)
    unused = {aggregate: set(queries.load(aggregate)) - names for aggregate, names in used.items()}
    assert not any(unused.values()), unused


def test_every_query_says_what_it_is_for_in_a_sentence() -> None:
    for name, query in ALL.items():
        assert query.purpose[0].isupper(), name
        assert len(query.purpose.split()) >= 3, name
        assert ";" not in _bare(query), name


def test_no_query_is_written_down_outside_of_the_sql_folder() -> None:
    statement = re.compile(
        r"^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|DROP|ALTER|VACUUM|SET)\s+\S+", re.MULTILINE
    )
    found = [(path, text) for path, module in modules() for text in module.strings if statement.match(text)]
    assert found == []


def test_what_returns_rows_is_asked_for_rows() -> None:
    for name, query in ALL.items():
        if query.cardinality in ("one", "many"):
            assert re.search(r"\b(SELECT|RETURNING)\b", query.text), name


async def test_postgresql_takes_every_query(connection: AsyncConnection[tuple[object, ...]]) -> None:
    prepared: list[str] = []
    for name, written in ALL.items():
        query = written.numbered(**NUMBERS) if "{space}" in written.text or "{dimension}" in written.text else written
        if re.match(r"(SELECT|INSERT|UPDATE|DELETE|WITH)\b", _bare(query)):
            prepared.append(name)
            await connection.execute(f"PREPARE p{len(prepared)} AS {_positional(query.text)}".encode())
        elif query.text.startswith("VACUUM"):
            await connection.execute(query.text)
        elif not name.startswith("scratch."):  # those two are run below
            async with connection.transaction(force_rollback=True):
                await connection.execute(query.text)
    assert len(prepared) > 40


def _bare(query: Query) -> str:
    return re.sub(r"^--.*\n", "", query.text, flags=re.MULTILINE)


def _positional(text: str) -> str:
    """``%(name)s`` as ``$1``, the same number for the same name."""
    numbers: dict[str, int] = {}
    return re.sub(r"%\((\w+)\)[sb]", lambda match: f"${numbers.setdefault(match[1], len(numbers) + 1)}", text).replace(
        "%%", "%"
    )


async def test_a_scratch_database_comes_and_goes_also_when_it_is_in_use(settings: Settings) -> None:
    async def exists(name: str) -> bool:
        async with await psycopg.AsyncConnection.connect(settings.database_url.get_secret_value()) as connection:
            found = await connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,))
            return await found.fetchone() is not None

    async with scratch_database(settings) as own:
        connection = await psycopg.AsyncConnection.connect(own.database_url.get_secret_value())
        name = connection.info.dbname
        assert name.startswith("harry_scratch_")
        assert await exists(name)
    assert not await exists(name)
    await connection.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-- name: a :one\nSELECT 1\n", "a in broken.sql has no purpose"),
        ("-- name: a :one\n-- One.\nSELECT 1\n\n-- name: a :one\n-- Again.\nSELECT 1\n", "stands there twice"),
    ],
)
def test_a_file_with_a_fault_is_refused(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.sql").write_text(text, encoding="utf-8")

    def here(_: str) -> Path:
        return tmp_path

    monkeypatch.setattr(resources, "files", here)
    with pytest.raises(StorageError, match=message):
        queries.load("broken")
