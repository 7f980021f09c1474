"""MCP-4: every role against every tool, over standard input and output and over HTTP, with both kinds of clients."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from harry_mcp.server.tokens import digest_of, new_token
from harry_mcp.settings import child_environment
from tests.console.served import Browser, Served, served, started
from tests.console.test_http import NOWHERE
from tests.server.test_stdio import COMMAND, text_of

pytestmark = pytest.mark.promise("MCP-4")

ROLES = ("reader", "contributor", "curator", "admin")
# The least role for each tool.
TABLE = {
    "search_kb": "reader",
    "read_document": "reader",
    "verified_lookup": "reader",
    "check_claim": "reader",
    "web_fallback": "reader",
    "explain_search": "reader",
    "submit_correction": "contributor",
    "submit_feedback": "contributor",
    "list_review_queue": "curator",
    "review_documents": "curator",
    "rollback_review": "curator",
    "list_gaps": "curator",
    "audit_trail": "curator",
    "list_corrections": "curator",
    "review_correction": "curator",
    "list_verified": "curator",
    "review_verified": "curator",
    "run_rot_checks": "curator",
    "curation_digest": "curator",
    "curation_console": "curator",
    "ingest_source": "curator",
    "ingestion_status": "curator",
}
CONSOLE = "ui://harry/console.html"
TOKENS = {role: new_token() for role in ROLES}
LINES = [f"{role}-of-the-test:{role}:{digest_of(token)}" for role, token in TOKENS.items()]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("roles")
    listed = folder / "tokens"
    listed.write_text("# Who may come in\n\n" + "  # the last two\n".join(LINES[2:]) + "\n", encoding="utf-8")
    environment = {
        "HARRY_DATABASE_URL": NOWHERE,
        "HARRY_HTTP__TOKEN": "",
        "HARRY_AUTH__TOKENS": ", ".join(LINES[:2]),
        "HARRY_AUTH__TOKENS_FILE": str(listed),
    }
    with served(folder, **environment) as opened:
        yield opened


@asynccontextmanager
async def connected(server: Served, way: str, role: str, mode: str) -> AsyncGenerator[Client]:
    if way == "stdio":
        environment = child_environment(HARRY_DATABASE_URL=NOWHERE, HARRY_ROLE=role)
        parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment)
        async with Client(parameters, mode=mode) as client:
            yield client
        return
    headers = {"Authorization": f"Bearer {TOKENS[role]}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{server.base}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.promise("MCP-6")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_every_role_against_every_tool(server: Served, way: str, role: str, mode: str) -> None:
    allowed = {tool for tool, least in TABLE.items() if ROLES.index(role) >= ROLES.index(least)}
    async with connected(server, way, role, mode) as client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == allowed
        for tool in TABLE:
            answer = await client.call_tool(tool, {"xyzzy": 1})
            assert answer.is_error
            if tool in allowed:
                assert f"{tool} has no argument 'xyzzy'." in text_of(answer)
            else:
                # In the words for what is not there, and without naming anything else that is not for this caller.
                assert text_of(answer).startswith(f"There is no tool '{tool}'. The tools are: ")
                named = text_of(answer).partition("are: ")[2].rstrip(".").split(", ")
                assert set(named) == allowed
        resources = {str(each.uri) for each in (await client.list_resources()).resources}
        curates = role in ("curator", "admin")
        assert (CONSOLE in resources) is curates
        if curates:
            assert (await client.read_resource(CONSOLE)).contents
        else:
            with pytest.raises(MCPError, match="Unknown resource"):
                await client.read_resource(CONSOLE)


async def test_lists_are_for_their_caller_alone(server: Served) -> None:
    async with (
        connected(server, "http", "reader", "auto") as reader,
        connected(server, "http", "admin", "auto") as admin,
    ):
        first, second = await reader.list_tools(), await admin.list_tools()
        assert len(second.tools) > len((await reader.list_tools()).tools) == len(first.tools)
        assert first.model_dump(by_alias=True)["cacheScope"] == "private"


@pytest.mark.promise("MCP-8")
def test_the_console_says_at_its_door_what_a_token_lacks(server: Served) -> None:
    with Browser(server.base) as browser:
        assert "with <code>--role curator</code> or <code>--role admin</code>" in browser.http.get("/admin").text
        for role, does in (("reader", "read"), ("contributor", "read and contribute")):
            refused = browser.sign_in(TOKENS[role])
            assert refused.status_code == 403
            assert f"This token may {does}; the console needs the role curator." in refused.text
            assert (
                "harry token new NAME --role curator" in refused.text.partition('role="alert"')[2].partition("</p>")[0]
            )
            assert browser.call("list_gaps").status_code == 401
        for role in ("curator", "admin"):
            assert browser.sign_in(TOKENS[role]).status_code == 303
            assert "cannot be reached" in browser.call("list_gaps").json()["error"]


@pytest.mark.promise("MCP-8")
def test_a_session_whose_token_may_less_by_now_is_told_so(tmp_path: Path) -> None:
    keys = {"HARRY_HTTP__STATE_KEYS": "a key of the tests with 32 characters or more"}
    environment = {"HARRY_DATABASE_URL": NOWHERE, "HARRY_HTTP__TOKEN": "", **keys}
    digest = digest_of(TOKENS["curator"])
    with served(tmp_path, **environment, HARRY_AUTH__TOKENS=f"c:curator:{digest}") as one, Browser(one.base) as browser:
        browser.sign_in(TOKENS["curator"])
        cookie = {"Cookie": f"harry_session={browser.http.cookies['harry_session']}"}
    with served(tmp_path, **environment, HARRY_AUTH__TOKENS=f"c:reader:{digest}") as one, Browser(one.base) as browser:
        page = browser.http.get("/admin", headers=cookie)
        assert page.status_code == 403
        assert "This token may read; the console needs the role curator." in page.text
        answer = browser.call("list_gaps", headers=cookie)
        assert (answer.status_code, answer.json()["login"]) == (401, True)
        assert "This token may read;" in answer.json()["error"]


def test_a_token_that_was_taken_out_lets_nobody_in(server: Served, tmp_path: Path) -> None:
    keys = {"HARRY_HTTP__STATE_KEYS": "a key of the tests with 32 characters or more"}
    environment = {"HARRY_DATABASE_URL": NOWHERE, "HARRY_HTTP__TOKEN": "", **keys}
    session = ""
    for lines, there in ((LINES, True), (LINES[:2], False)):
        with (
            served(tmp_path, **environment, HARRY_AUTH__TOKENS=",".join(lines)) as opened,
            Browser(opened.base) as browser,
        ):
            signed = browser.sign_in(TOKENS["curator"])
            assert signed.status_code == (303 if there else 401)
            session = session or browser.http.cookies["harry_session"]
            page = browser.http.get("/admin", headers={"Cookie": f"harry_session={session}"}).text
            assert ("harry-csrf" in page) is there


def test_a_token_is_made_shown_once_and_lets_in(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harry_mcp.cli.main", "token", "new", "maría", "--role", "curator"]
    made = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    name, role, digest = made["line"].split(":")
    assert (name, role, digest) == ("maría", "curator", digest_of(made["token"]))
    shown = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert made["token"] not in shown
    assert re.search(r"^maría:curator:[0-9a-f]{64}$", shown, re.M)
    with (
        served(tmp_path, HARRY_DATABASE_URL=NOWHERE, HARRY_HTTP__TOKEN="", HARRY_AUTH__TOKENS=made["line"]) as server,
        Browser(server.base) as browser,
    ):
        assert browser.sign_in(made["token"]).status_code == 303
        assert browser.sign_in(digest).status_code == 401
        # Nobody else is let in by a token that was made for this start.
        assert "#token=" not in server.said()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"HARRY_AUTH__TOKENS": "maria:curator"}, "HARRY_AUTH__TOKENS cannot be used"),
        ({"HARRY_AUTH__TOKENS": f"a:reader:{'0' * 64},a:admin:{'1' * 64}"}, "Two tokens are called a"),
        ({"HARRY_AUTH__TOKENS": f"a:reader:{'0' * 64},b:admin:{'0' * 64}"}, "or are one."),
        (
            {"HARRY_AUTH__TOKENS_FILE": "/nowhere/tokens"},
            "There is no file of tokens /nowhere/tokens. Correct HARRY_AUTH__TOKENS_FILE",
        ),
        ({"HARRY_AUTH__ISSUER": "https://login.example.com"}, "set both or none"),
        ({"HARRY_AUTH__JWKS_URL": "http://login.example.com/keys"}, "HARRY_AUTH__JWKS_URL cannot be used"),
        ({"HARRY_AUTH__JWKS_URL": "file:///etc/passwd"}, "HARRY_AUTH__JWKS_URL cannot be used"),
        ({"HARRY_HTTP__STATE_KEYS": "short"}, "HARRY_HTTP__STATE_KEYS cannot be used"),
        ({"HARRY_HTTP__REPLICAS": "2"}, "Replicas need the same secrets. Set HARRY_HTTP__STATE_KEYS"),
        ({"HARRY_HTTP__PUBLIC_URL": "kb.example.com"}, "HARRY_HTTP__PUBLIC_URL cannot be used"),
    ],
)
def test_settings_that_cannot_be_used_are_named(tmp_path: Path, changes: dict[str, str], sentence: str) -> None:
    with started(tmp_path, "--port", "0", HARRY_DATABASE_URL=NOWHERE, **changes) as server:
        assert server.ended() == 2, server.said()
        assert sentence in server.said()
        assert len(server.said().splitlines()) == 1
