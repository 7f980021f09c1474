"""MCP-4, OPS-6: tokens by digest in a file: made, taken, changed and taken back while the server runs."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from harry_mcp.cli.ends import ExitCode
from harry_mcp.domain.people import Role
from harry_mcp.errors import SettingsError
from harry_mcp.server.tokens import digest_of, known_tokens
from harry_mcp.settings import load_settings
from tests.cli.test_commands import harry
from tests.console.served import TOKEN, Served, served, started
from tests.console.test_gates import ACCEPT, PING
from tests.console.test_http import NOWHERE

pytestmark = [pytest.mark.promise("MCP-4"), pytest.mark.promise("OPS-6")]

DIGEST = digest_of("a token of the tests")
LINE = f"ann:reader:{DIGEST}"


def status(server: Served, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}", "Connection": "close", **ACCEPT}
    return httpx.post(f"{server.base}/mcp", json=PING, headers=headers, timeout=30).status_code


def everywhere(server: Served, token: str) -> set[int]:
    """What many connections at once are told, so that every process is asked."""
    with ThreadPoolExecutor(8) as pool:
        return set(pool.map(status, [server] * 12, [token] * 12))


def until(server: Served, token: str, wanted: int) -> None:
    """Wait until a token is answered so by every process, three times over."""
    deadline, times = time.monotonic() + 30, 0
    while times < 3:
        times = times + 1 if everywhere(server, token) == {wanted} else 0
        assert time.monotonic() < deadline, server.said()


def made(file: Path, name: str, role: str = "reader") -> str:
    done = harry("token", "new", name, "--role", role, "--file", str(file), "--json")
    assert done.code == 0
    assert done.json["line"] in file.read_text(encoding="utf-8").splitlines()
    assert done.json["token"] not in file.read_text(encoding="utf-8")
    return done.json["token"]


def test_the_file_is_changed_under_a_server_with_several_processes(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# who may come in", encoding="utf-8")  # without an end of its line
    ann = made(file, "ann")
    environment = {"HARRY_DATABASE_URL": NOWHERE, "HARRY_AUTH__TOKENS_FILE": str(file), "HARRY_HTTP__TOKEN": ""}
    with served(tmp_path, "--workers", "2", HARRY_HTTP__CALLS_PER_MINUTE="0", **environment) as server:
        assert "#token=" not in server.said()
        assert everywhere(server, ann) == {200}
        bob = made(file, "bob", "curator")
        until(server, bob, 200)
        assert everywhere(server, ann) == {200}
        whole = file.read_text(encoding="utf-8")
        file.write_text("\n".join(line for line in whole.splitlines() if not line.startswith("ann:")), encoding="utf-8")
        until(server, ann, 401)
        # One that is broken, or away, leaves them as they were; what was taken back stays so.
        file.write_text(f"{whole}{ann}\n", encoding="utf-8")
        _until_said(server, "Line 4 of", bob)
        file.unlink()
        _until_said(server, "There is no file of tokens", bob)
        assert everywhere(server, bob) == {200}
        assert everywhere(server, ann) == {401}
        file.write_text(whole.replace("bob:", "bo:"), encoding="utf-8")
        until(server, ann, 200)
        assert ann not in server.said()
        assert bob not in server.said()
        asked = harry("ask", "How?", "--server", f"{server.base}/mcp", "--json", HARRY_AGENT__TOKEN=ann)
        assert asked.code == ExitCode.DATABASE  # the token lets in; there is no database behind this server
        refused = harry("ask", "How?", "--server", f"{server.base}/mcp", "--json", HARRY_AGENT__TOKEN="x" * 43)
        assert refused.code == ExitCode.PROVIDER


def _until_said(server: Served, words: str, token: str) -> None:
    deadline = time.monotonic() + 30
    while server.said().count(words) < 2:  # by both processes
        assert everywhere(server, token) == {200}
        assert time.monotonic() < deadline, server.said()
    assert server.said().count("The tokens stay as they were. ") >= 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file of tokens"),
        (b"\xff\xfea", "is not UTF-8 text"),
        (f"{LINE}\nann reader {DIGEST}\n".encode(), "Line 2 of {path} is not name:role:digest"),
        (b"\n\nVmkJ4dXW-Rz0tBp1cQnY5oEwLhUaGfSs3i7ZjKxM9Tg\n", "Line 3 of {path} is not name:role:digest"),
        (b"VmkJ4dXW-Rz0tBp1cQnY5oEwLhUaGfSs3i7ZjKxM9Tg", "it looks like a token itself"),
        (f"ann:owner:{DIGEST}".encode(), "'owner' is no role, those are reader, contributor, curator, admin"),
        (f"ann:reader:{DIGEST[:-1]}".encode(), "a digest has 64"),
        (f"{LINE}\n# one more\nbob:reader:{DIGEST}".encode(), "Lines 1 and 3 of {path} have one digest"),
        (f"{LINE}\nann:reader:{'0' * 64}".encode(), "Lines 1 and 2 of {path} have one name"),
        (f"admin:reader:{DIGEST}".encode(), "Two tokens are called admin"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_why(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "tokens"
    if content is not None:
        path.write_bytes(content)
    settings = load_settings({"HARRY_AUTH__TOKENS_FILE": str(path)})
    with pytest.raises(SettingsError) as refused:
        known_tokens(settings, "the one token of the tests")
    assert sentence.replace("{path}", str(path)) in str(refused.value)
    assert "VmkJ" not in str(refused.value)
    assert DIGEST[:8] not in str(refused.value)


def test_a_folder_and_a_way_that_leads_nowhere_are_told_why(tmp_path: Path) -> None:
    for path, sentence in ((tmp_path, "is a folder"), (tmp_path / ("a" * 300), "cannot be read: File name too long")):
        with pytest.raises(SettingsError, match=sentence):
            known_tokens(load_settings({"HARRY_AUTH__TOKENS_FILE": str(path)}), "")


def test_the_server_ends_before_it_opens_anything(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("ann\n", encoding="utf-8")
    with started(tmp_path, "--port", "0", HARRY_AUTH__TOKENS_FILE=str(file), HARRY_HTTP__TOKEN=TOKEN) as server:
        assert server.ended() == ExitCode.USAGE
        assert server.said() == (f"harry: Line 1 of {file} is not name:role:digest, as `harry token new` prints it.\n")


def test_comments_marks_and_a_settings_line_beside_the_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(f"\ufeff# ours\r\n  {LINE}   # since May\r\n\r\nc#:admin:{'0' * 64}\r\n".encode())
    known = known_tokens(
        load_settings({"HARRY_AUTH__TOKENS_FILE": str(file), "HARRY_AUTH__TOKENS": f"bob:curator:{'1' * 64}"}),
        "one",
    )
    found = known.holder("a token of the tests")
    assert found is not None
    assert (found.principal.subject, found.principal.role) == ("ann", Role.READER)
    assert known.named("1" * 16) is not None
    assert known.named("0" * 16) is not None


def test_a_name_is_given_once_in_a_file_and_a_wrong_one_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    made(file, "ann")
    before = file.read_bytes()
    again = harry("token", "new", "ann", "--role", "admin", "--file", str(file))
    assert (again.code, again.out) == (ExitCode.USAGE, "")
    assert "has a token for ann already" in again.err
    for name in ("two words", "a:b", "a,b", "#a", "", "x" * 101):
        assert harry("token", "new", name, "--role", "reader", "--file", str(file)).code == ExitCode.USAGE
    nowhere = harry("token", "new", "bob", "--role", "reader", "--file", str(tmp_path / "none" / "tokens"))
    assert (nowhere.code, nowhere.out) == (ExitCode.USAGE, "")
    assert file.read_bytes() == before
