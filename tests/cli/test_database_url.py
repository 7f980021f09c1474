"""RUN-3: with HARRY_DATABASE_URL the given PostgreSQL is used, and none of our own is started."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from harry_mcp.settings import Settings
from harry_mcp.storage.embedded_binaries import Account, account_for_new, let_through
from harry_mcp.storage.scratch import scratch_database
from tests.cli.test_commands import harry

pytestmark = pytest.mark.promise("RUN-3")

PAGE = "# API keys\n\nOpen Settings, choose API keys and press Rotate. The old key works for one more hour.\n"


def use(url: str, place: Path) -> None:
    """Fill and ask a knowledge base in the database, and see that all of it is there and nothing elsewhere."""
    page, home = place / "keys.md", place / "home"
    page.write_text(PAGE, encoding="utf-8")
    environment = {"HARRY_DATABASE_URL": url, "HARRY_DATA_DIR": str(home)}
    assert harry("ingest", str(page), "--json", **environment).json["added"] == ["API keys"]
    found = harry("search", "How do I rotate an API key?", "--json", **environment)
    assert found.json["hits"][0]["title"] == "API keys"
    report = harry("doctor", "--json", **environment)
    assert report.code == 0
    finding = next(check["finding"] for check in report.json["checks"] if check["name"] == "database")
    assert finding.startswith("HARRY_DATABASE_URL: PostgreSQL ")
    assert not home.exists()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT title FROM harry.documents").fetchall() == [("API keys",)]
        assert connection.execute("SELECT count(*) FROM harry.searches").fetchone() == (1,)


async def test_a_given_database_is_used_and_no_other(settings: Settings, tmp_path: Path) -> None:
    async with scratch_database(settings) as own:
        use(own.database_url.get_secret_value(), tmp_path)


def _configured(name: str) -> Path:
    program = shutil.which("pg_config")
    if program is None:
        pytest.skip("no PostgreSQL of the system is installed: there is no pg_config")
    return Path(subprocess.run([program, f"--{name}"], capture_output=True, check=True, text=True).stdout.strip())


@pytest.fixture
def system_server() -> Iterator[str]:
    """A cluster of the system's own PostgreSQL, on a socket in a folder of its own."""
    binaries, control = _configured("bindir"), _configured("sharedir") / "extension" / "vector.control"
    if not control.exists():
        pytest.skip(f"pgvector is not installed for the system's PostgreSQL: there is no {control}")
    if not (binaries / "initdb").exists():
        pytest.skip(f"the system's PostgreSQL has no server: there is no {binaries / 'initdb'}")
    place = Path(tempfile.mkdtemp(prefix="harry-pg-"))
    account = account_for_new(place)
    if account:
        account.take(place)
        let_through(place / "data", account)
    try:
        _run(account, binaries / "initdb", "-D", place / "data", "-U", "harry", "-A", "trust", "-E", "UTF8")
        options = f"-c listen_addresses='' -c unix_socket_directories={place}"
        _run(account, binaries / "pg_ctl", "start", "-w", "-D", place / "data", "-l", place / "log", "-o", options)
        try:
            yield make_conninfo(host=str(place), user="harry", dbname="postgres")
        finally:
            _run(account, binaries / "pg_ctl", "stop", "-w", "-m", "immediate", "-D", place / "data")
    finally:
        shutil.rmtree(place)


def _run(account: Account | None, *command: Path | str) -> None:
    subprocess.run(
        command,
        check=True,
        cwd="/",
        stdout=subprocess.DEVNULL,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def test_the_systems_postgresql_serves_where_it_has_pgvector(system_server: str, tmp_path: Path) -> None:
    use(system_server, tmp_path)
