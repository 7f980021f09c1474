"""OPS-7, OPS-2: a PostgreSQL for a team: TLS that is verified, and a role that owns its schemas and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from harry_mcp.app import App
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.errors import DatabaseUnavailable, MigrationError
from harry_mcp.jobs.queue import prepare
from harry_mcp.settings import load_settings
from harry_mcp.storage.connecting import connect
from harry_mcp.storage.embedded import EmbeddedPostgres
from harry_mcp.storage.embedded_binaries import Account, account_for_new, let_through
from tests.cli.test_commands import harry
from tests.loop.small_base import CURATOR, KEYS, QUESTION, filled
from tests.ports import free_port
from tests.transfer.lived_in import exported, taken

pytestmark = pytest.mark.promise("OPS-7")

PASSWORD = "p%40ss word"  # as it is; in an address it is escaped
ESCAPED = "p%2540ss%20word"


@pytest.fixture
def role(postgres: EmbeddedPostgres) -> Iterator[str]:
    """The address of a database that was made as the README tells an administrator to make it."""
    with psycopg.connect(postgres.dsn, autocommit=True) as admin:
        admin.execute("CREATE ROLE harry_team LOGIN")
        admin.execute("CREATE DATABASE harry_team")
        admin.execute("REVOKE ALL ON DATABASE harry_team FROM PUBLIC")
        admin.execute("GRANT CONNECT ON DATABASE harry_team TO harry_team")
    with psycopg.connect(make_conninfo(postgres.dsn, dbname="harry_team"), autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
        admin.execute("CREATE SCHEMA harry AUTHORIZATION harry_team")
        admin.execute("CREATE SCHEMA harry_jobs AUTHORIZATION harry_team")
    yield make_conninfo(postgres.dsn, dbname="harry_team", user="harry_team")
    with psycopg.connect(postgres.dsn, autocommit=True) as admin:
        admin.execute("DROP DATABASE harry_team WITH (FORCE)")
        admin.execute("DROP ROLE harry_team")


@pytest.mark.promise("OPS-2")
async def test_a_role_that_owns_its_schemas_and_nothing_else_is_enough(
    role: str, postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    settings = load_settings({"HARRY_DATABASE_URL": role, "HARRY_DATA_DIR": str(tmp_path)})
    async with await App.open(settings) as app:
        await filled(app)
        assert (await app.loop.search(QUESTION)).hits[0].passage.document_id == KEYS.id
        await app.loop.recorded()
        done = await app.loop.review.act(ReviewAction.ARCHIVE, [KEYS.id], CURATOR)
        await app.loop.review.rollback(done.action_id, CURATOR)
        await app.loop.review.preview(ReviewAction.ARCHIVE, [KEYS.id])
        assert await prepare(app.database) == 1  # the queue of the worker too
        await app.database.vacuum()
        lines = await exported(app.database)
        assert (await taken(app.database, lines)).added == 0
    assert harry("doctor", HARRY_DATABASE_URL=role, HARRY_DATA_DIR=str(tmp_path)).code == 0
    with psycopg.connect(make_conninfo(postgres.dsn, dbname="harry_team"), autocommit=True) as admin:
        owned = "SELECT DISTINCT schemaname, tableowner FROM pg_tables WHERE schemaname LIKE 'harry%' ORDER BY 1"
        assert admin.execute(owned).fetchall() == [("harry", "harry_team"), ("harry_jobs", "harry_team")]
    with psycopg.connect(role, autocommit=True) as own:
        rights = "SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user"
        assert own.execute(rights).fetchall() == [(False, False, False)]
        forbidden = ("CREATE SCHEMA other", "CREATE TABLE public.other ()", "CREATE TEMP TABLE other ()")
        for statement in (*forbidden, "CREATE DATABASE other"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                own.execute(statement.encode())


@pytest.mark.promise("OPS-2")
async def test_a_role_without_a_schema_is_told_what_it_lacks(role: str, postgres: EmbeddedPostgres) -> None:
    with psycopg.connect(make_conninfo(postgres.dsn, dbname="harry_team"), autocommit=True) as admin:
        admin.execute("DROP SCHEMA harry")
    with pytest.raises(MigrationError, match=r"permission denied .*the right to create objects"):
        await App.open(load_settings({"HARRY_DATABASE_URL": role}))


@dataclass(frozen=True, slots=True)
class Team:
    """A PostgreSQL that takes connections over TLS alone, and the certificates of two authorities."""

    port: int
    authority: Path
    stranger: Path

    def url(
        self, user: str = "harry", *, host: str = "localhost", database: str = "postgres", **options: object
    ) -> str:
        said = {"sslmode": "verify-full", "sslrootcert": self.authority} | options
        tail = "&".join(f"{name}={value}" for name, value in said.items())
        return f"postgresql://{user}:{ESCAPED}@{host}:{self.port}/{database}?{tail}"


def _programs() -> Path:
    """The system's PostgreSQL: the one of the package is built without TLS, for it listens on a socket of its own."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, and makes the certificates of this test")
    program = shutil.which("pg_config")
    if program is None:
        pytest.skip("no PostgreSQL of the system is installed: there is no pg_config")
    told = subprocess.run([program, "--bindir"], capture_output=True, check=True, text=True).stdout
    programs = Path(told.strip())
    if not (programs / "initdb").exists():
        pytest.skip(f"the system's PostgreSQL has no server: there is no {programs / 'initdb'}")
    return programs


@pytest.fixture(scope="module")
def team() -> Iterator[Team]:
    programs = _programs()
    place = Path(tempfile.mkdtemp(prefix="harry-tls-"))
    account = account_for_new(place)
    authority, stranger = _authority(place, "authority"), _authority(place, "stranger")
    key, certificate = _certificate(place, "authority")
    (place / "password").write_text(PASSWORD, encoding="utf-8")
    cluster = place / "cluster"
    if account:
        for path in (place, key, certificate, place / "password"):
            account.take(path)
        let_through(cluster, account)
    port = free_port()
    initdb = ("-U", "harry", "-A", "scram-sha-256", "--pwfile", place / "password", "-E", "UTF8", "--locale=C")
    _run(account, programs / "initdb", "-D", cluster, *initdb)
    (cluster / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 scram-sha-256\n", encoding="utf-8")
    options = (
        f"-c ssl=on -c ssl_cert_file={certificate} -c ssl_key_file={key} -c listen_addresses=127.0.0.1 -c port={port} "
        "-c unix_socket_directories='' -c fsync=off"
    )
    _run(account, programs / "pg_ctl", "start", "-w", "-D", cluster, "-l", place / "log", "-o", options)
    try:
        yield Team(port, authority, stranger)
    finally:
        _run(account, programs / "pg_ctl", "stop", "-w", "-m", "immediate", "-D", cluster)
        shutil.rmtree(place, ignore_errors=True)


def _authority(place: Path, name: str) -> Path:
    certificate = place / f"{name}.pem"
    _openssl(
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"),
        *("-keyout", str(place / f"{name}.key"), "-out", str(certificate), "-subj", f"/CN={name}"),
    )
    return certificate


def _certificate(place: Path, authority: str) -> tuple[Path, Path]:
    key, request, certificate, names = (place / name for name in ("server.key", "server.csr", "server.pem", "names"))
    names.write_text("subjectAltName=DNS:localhost\n", encoding="utf-8")
    _openssl(
        *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key)),
        *("-out", str(request), "-subj", "/CN=localhost"),
    )
    _openssl(
        *("x509", "-req", "-in", str(request), "-CA", str(place / f"{authority}.pem"), "-CAkey"),
        *(str(place / f"{authority}.key"), "-CAcreateserial", "-days", "2", "-out", str(certificate)),
        *("-extfile", str(names)),
    )
    key.chmod(0o600)
    return key, certificate


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


def _run(account: Account | None, *command: Path | str) -> None:
    subprocess.run(
        command,
        check=True,
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


async def test_tls_is_verified_as_the_address_asks(team: Team) -> None:
    settings = load_settings({"HARRY_DATABASE_URL": team.url()})
    async with await connect(settings.database_url.get_secret_value(), settings) as connection:
        cursor = await connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        assert await cursor.fetchall() == [(True,)]


async def test_who_is_not_the_one_it_should_be_is_refused(team: Team) -> None:
    for url, reason in (
        (team.url(sslrootcert=team.stranger), "certificate verify failed"),
        (team.url(host="127.0.0.1"), "does not match host name"),
        (team.url(sslmode="disable"), "no encryption"),
    ):
        with pytest.raises(DatabaseUnavailable, match=reason) as caught:
            await App.open(load_settings({"HARRY_DATABASE_URL": url}))
        assert ESCAPED not in str(caught.value)
        assert PASSWORD not in str(caught.value)


def test_a_command_says_so_in_a_line_without_the_password(team: Team, tmp_path: Path) -> None:
    address = team.url(sslrootcert=team.stranger)
    wrong = harry("search", "x y", HARRY_DATABASE_URL=address, HARRY_DATA_DIR=str(tmp_path))
    assert wrong.code == 3
    assert "certificate verify failed" in wrong.err
    assert wrong.err.count("\n") == 1
    assert ESCAPED not in wrong.err
