"""MCP-8 and MCP-4 over HTTP: what ``harry serve --http`` lets in, and what it answers."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client, advertise
from mcp.client.streamable_http import streamable_http_client
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp_types import ElicitRequestParams, ElicitResult

from harry_mcp.app import App
from harry_mcp.console.login_page import Taken, login_page
from harry_mcp.domain.documents import DocumentStatus, SourceDocument
from harry_mcp.settings import Settings
from tests.console.served import TOKEN, Browser, served, started, with_database
from tests.server.test_stdio import TOOLS, structured
from tests.stages.curate.sources import Asked, Says, Site, serving

pytestmark = pytest.mark.promise("MCP-8")

DRAFT = SourceDocument(
    source="test:draft", title="<img src=x onerror=alert(1)>", language="en", text="Drafts wait for a curator."
)


@asynccontextmanager
async def client(base: str, mode: Any = "auto", **options: Any) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http,
        Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=mode, **options) as opened,
    ):
        yield opened


@pytest.mark.promise("MCP-1")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_sdks_client_lists_searches_and_acts_with_the_token(
    settings: Settings, app: App, tmp_path: Path, mode: str
) -> None:
    await app.ingester.ingest([DRAFT], status=DocumentStatus.PENDING)
    with served(tmp_path, **with_database(settings)) as server:
        async with client(server.base, mode) as session:
            assert [tool.name for tool in (await session.list_tools()).tools] == TOOLS
            queue = structured(await session.call_tool("list_review_queue", {"tab": "pending"}))
            (waiting,) = queue["documents"]
            done = structured(
                await session.call_tool(
                    "review_documents", {"action": "approve", "document_ids": [waiting["document_id"]]}
                )
            )
            assert done["outcome"] == "done"
            trail = structured(await session.call_tool("audit_trail", {"target_id": waiting["document_id"]}))
            assert {entry["actor"] for entry in trail["entries"] if "approve" in entry["action"]} == {"http:admin"}
            server.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(server.ended) == 143
        assert '"level": "ERROR"' not in server.said()


async def test_a_curator_signs_in_acts_and_undoes(settings: Settings, app: App, tmp_path: Path) -> None:
    await app.ingester.ingest([DRAFT], status=DocumentStatus.PENDING)
    with (
        served(tmp_path, **with_database(settings), HARRY_HTTP__SUBJECT="maria") as server,
        Browser(server.base) as browser,
    ):
        assert browser.sign_in().status_code == 303
        answer = browser.call("list_review_queue", {"tab": "pending"})
        assert (answer.status_code, answer.json()["ok"]) == (200, True)
        (waiting,) = answer.json()["result"]["documents"]
        assert waiting["title"] == DRAFT.title
        done = browser.call("review_documents", {"action": "approve", "document_ids": [waiting["document_id"]]}).json()
        assert done["result"]["outcome"] == "done"
        recent = browser.call("list_review_queue", {"tab": "recent"}).json()["result"]["actions"]
        assert recent[0]["actor"] == "http:maria"
        assert browser.call("rollback_review", {"action_id": done["result"]["action_id"]}).json()["ok"]
        wrong = browser.call("rollback_review", {"action_id": "act_none"})
        assert (wrong.status_code, wrong.json()["ok"]) == (200, False)
        assert "act_none" in wrong.json()["error"]
        assert browser.http.get("/readyz").json() == {"ready": True}
        server.process.send_signal(signal.SIGTERM)
        assert server.ended() == 143
        assert TOKEN not in server.said()
        assert browser.csrf not in server.said()


@pytest.mark.promise("MCP-5")
async def test_many_are_archived_only_with_confirm(settings: Settings, app: App, tmp_path: Path) -> None:
    others = [
        SourceDocument(source=f"test:{n}", title=f"Page {n}", language="en", text=f"Page {n} speaks of keys.")
        for n in range(2)
    ]
    ids = [each.id for each in others]
    await app.ingester.ingest(others)
    with served(tmp_path, **with_database(settings)) as server, Browser(server.base) as browser:
        browser.sign_in()
        asked = browser.call("review_documents", {"action": "archive", "document_ids": ids}).json()["result"]
        assert (asked["outcome"], asked["consent"]) == ("needs_confirmation", "cannot_be_asked")
        wanted = {"action": "archive", "document_ids": ids, "confirm": True}
        done = browser.call("review_documents", wanted).json()["result"]
        assert (done["outcome"], done["consent"]) == ("done", "confirmed")


@pytest.mark.promise("MCP-5")
async def test_a_client_that_can_ask_is_asked_over_http(settings: Settings, app: App, tmp_path: Path) -> None:
    others = [
        SourceDocument(source=f"test:{n}", title=f"Page {n}", language="en", text=f"Page {n} speaks of keys.")
        for n in range(2)
    ]
    await app.ingester.ingest(others)
    wanted = {"action": "archive", "document_ids": [each.id for each in others]}
    questions: list[str] = []

    async def says_yes(_: object, asked: ElicitRequestParams) -> ElicitResult:
        questions.append(asked.message)
        return ElicitResult(action="accept", content={"go_on": True})

    with served(tmp_path, **with_database(settings)) as server:
        async with client(server.base, "legacy", elicitation_callback=says_yes) as session:
            # Without a stream to it, a client of 2025 cannot be asked.
            unasked = structured(await session.call_tool("review_documents", wanted))
            assert (unasked["outcome"], unasked["consent"]) == ("needs_confirmation", "cannot_be_asked")
        async with client(server.base, elicitation_callback=says_yes) as session:
            done = structured(await session.call_tool("review_documents", wanted))
            assert (done["outcome"], done["consent"]) == ("done", "given")
    assert len(questions) == 1
    assert "Archive 2 documents" in questions[0]


@pytest.mark.promise("RUN-3")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_second_signal_does_not_wait_and_still_stops_postgresql() -> None:
    with tempfile.TemporaryDirectory(prefix="harry-tests-", ignore_cleanup_errors=True) as folder:
        postmaster = Path(folder) / "postgres" / "cluster" / "postmaster.pid"
        environment = {"HARRY_DATABASE_URL": "", "HARRY_HTTP__GRACE": "300"}
        with served(Path(folder), **environment) as server, Browser(server.base) as browser:
            browser.sign_in()
            assert browser.call("list_review_queue").json()["ok"]
            assert postmaster.exists()
            port = int(server.base.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port)) as unfinished:
                fields = ("POST /admin/login HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Length: 9")
                unfinished.sendall("\r\n".join([*fields, "Expect: 100-continue", "", ""]).encode())
                assert unfinished.recv(100).startswith(b"HTTP/1.1 100")
                server.process.send_signal(signal.SIGTERM)
                with pytest.raises(subprocess.TimeoutExpired):
                    server.process.wait(1.5)
                server.process.send_signal(signal.SIGTERM)
                assert server.ended() == 143
            assert not postmaster.exists()


@pytest.mark.promise("OPS-3")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
async def test_sigterm_lets_a_running_call_answer(settings: Settings, app: App, tmp_path: Path) -> None:
    asked = asyncio.Event()

    def says_nothing(_: Asked) -> Says:
        asked.set()
        return Says(hangs=True)

    async with serving(Site()) as site:
        site.pages["/slow"] = says_nothing
        page = SourceDocument(source=f"{site.url}/slow", url=f"{site.url}/slow", title="Slow", text="It is slow.")
        await app.ingester.ingest([page])
        environment = {"HARRY_INGEST__PRIVATE_ADDRESSES": "true", "HARRY_CURATE__PROBE_TIMEOUT": "3"}
        with served(tmp_path, **with_database(settings), **environment) as server, Browser(server.base) as browser:
            browser.sign_in()
            running = asyncio.create_task(
                asyncio.to_thread(browser.call, "run_rot_checks", {"signals": ["dead_source"]})
            )
            await asked.wait()
            server.process.send_signal(signal.SIGTERM)
            answer = await running
            assert (answer.status_code, answer.json()["ok"]) == (200, True)
            assert await asyncio.to_thread(server.ended) == 143


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_it_and_a_made_token_is_told_once(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with served(tmp_path, HARRY_HTTP__TOKEN="", HARRY_DATABASE_URL=NOWHERE, HARRY_LOG_LEVEL="DEBUG") as server:
            found = re.search(
                rf"^The curation console: {re.escape(server.base)}/admin#token=(\S+)$", server.said(), re.M
            )
            assert found is not None
            with Browser(server.base) as browser:
                assert browser.sign_in(found[1]).status_code == 303
                assert browser.sign_in(TOKEN).status_code == 401
            server.process.send_signal(signal.SIGINT)
            assert server.ended() == 130
            logged = [line for line in server.said().splitlines() if line.startswith("{")]
            assert logged
            assert not [line for line in logged if found[1] in line]
    finally:
        signal.signal(signal.SIGINT, before)


OWN_SET = "the server's own token (HARRY_HTTP__TOKEN)"
MADE = "the token that <code>harry serve --http</code> printed when it started"
NAMED = "one that <code>harry token new NAME</code> made with <code>--role curator</code> or <code>--role admin</code>"
ISSUED = "one of your identity provider with the scope harry:curate or harry:admin"


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        (Taken(own="made", named=False, issuer=False), f"It takes {MADE}."),
        (Taken(own="set", named=True, issuer=False), f"It takes {OWN_SET} or {NAMED}."),
        (Taken(own="set", named=True, issuer=True), f"It takes {OWN_SET}, {NAMED}, or {ISSUED}."),
        (Taken(own="", named=False, issuer=True), f"It takes {ISSUED}."),
    ],
)
def test_the_form_names_the_tokens_that_are_taken(taken: Taken, said: str) -> None:
    assert f"<small>{said}</small>" in login_page("n", taken=taken)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"HARRY_HTTP__TOKEN": "", "HARRY_AUTH__TOKENS": f"ann:curator:{'ab' * 32}"}, NAMED),
        ({"HARRY_HTTP__TOKEN": ""}, MADE),
        ({}, OWN_SET),
    ],
    ids=["tokens by digest", "one made", "one set"],
)
def test_the_form_of_a_server_fits_what_it_was_started_with(
    tmp_path: Path, environment: dict[str, str], said: str
) -> None:
    with served(tmp_path, HARRY_DATABASE_URL=NOWHERE, **environment) as server, Browser(server.base) as browser:
        assert f"<small>It takes {said}.</small>" in browser.http.get("/admin").text


NOWHERE = "postgresql://nobody@127.0.0.1:9/none"


def test_what_cannot_be_listened_on_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for options, environment, sentence in (
            (("--port", port), {}, f"Another program listens on port {port} of 127.0.0.1."),
            (
                ("--host", "0.0.0.0"),
                {"HARRY_HTTP__TOKEN": "only-twenty-letters1"},
                "0.0.0.0 is open to other machines.",
            ),
            (("--host", "0.0.0.0"), {"HARRY_HTTP__TOKEN": ""}, "Set HARRY_HTTP__TOKEN to 32 or more"),
            (("--host", "nowhere.invalid"), {}, "There is no address 'nowhere.invalid' to listen on."),
            (("--host", "192.0.2.1"), {}, "192.0.2.1 is no address of this machine."),
            ((), {"HARRY_HTTP__TOKEN": "short"}, "HARRY_HTTP__TOKEN cannot be used"),
            ((), {"HARRY_HTTP__TOKEN": "with a space in the middle"}, "HARRY_HTTP__TOKEN cannot be used"),
        ):
            with started(tmp_path, *options, HARRY_DATABASE_URL=NOWHERE, **environment) as server:
                assert server.ended() == 2, server.said()
                assert sentence in server.said()
                assert len(server.said().splitlines()) == 1
                token = environment.get("HARRY_HTTP__TOKEN")
                assert not token or token not in server.said()


async def test_a_host_gets_the_page_and_others_get_words(settings: Settings, tmp_path: Path) -> None:
    with served(tmp_path, **with_database(settings)) as server:
        shows = [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})]
        async with client(server.base, extensions=shows) as session:
            assert session.server_capabilities is not None
            assert EXTENSION_ID in (session.server_capabilities.extensions or {})
            (tool,) = [each for each in (await session.list_tools()).tools if each.name == "curation_console"]
            assert tool.meta is not None
            address = tool.meta["ui"]["resourceUri"]
            assert tool.meta["ui/resourceUri"] == address
            (content,) = (await session.read_resource(address)).contents
            assert content.mime_type == APP_MIME_TYPE
            assert 'data-mode="app"' in getattr(content, "text", "")
            assert structured(await session.call_tool("curation_console", {}))["shown"] is True
        async with client(server.base) as session:
            result = await session.call_tool("curation_console", {})
            assert structured(result)["shown"] is False
            assert "curation_digest" in json.dumps(structured(result))
    with served(tmp_path, **with_database(settings), HARRY_ROLE="contributor") as server:
        async with client(server.base) as session:
            assert "curation_console" not in [tool.name for tool in (await session.list_tools()).tools]
            assert [str(each.uri) for each in (await session.list_resources()).resources] == ["kb://corrections"]
        with Browser(server.base) as browser:
            refused = browser.sign_in()
            assert refused.status_code == 403
            assert "This token may read and contribute; the console needs the role curator." in refused.text
            assert "HARRY_ROLE" in refused.text
