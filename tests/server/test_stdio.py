"""The protocol over a real subprocess, with the newest client, with a 2025 client, and by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.settings import Settings, child_environment

TOOLS = [
    "search_kb",
    "read_document",
    "verified_lookup",
    "check_claim",
    "web_fallback",
    "submit_correction",
    "submit_feedback",
    "explain_search",
    "list_review_queue",
    "review_documents",
    "rollback_review",
    "list_gaps",
    "audit_trail",
    "list_corrections",
    "review_correction",
    "list_verified",
    "review_verified",
    "run_rot_checks",
    "curation_digest",
    "curation_console",
    "ingest_source",
    "ingestion_status",
]
QUESTION = "How do I rotate the API key?"
DOCUMENT = SourceDocument(
    source="test:keys",
    title="API keys",
    url="https://docs.example.com/keys",
    language="en",
    text="# API keys\n\n## Rotate a key\n\nOpen Settings, choose API keys, and press Rotate. "
    "The old key works for one hour.\n\n## Delete a key\n\nPress Delete; it stops at once.",
)
COMMAND = [sys.executable, "-m", "harry_mcp.cli.main", "serve"]


@pytest.fixture
async def environment(settings: Settings, app: App) -> dict[str, str]:
    """The environment of a server whose knowledge base holds a document."""
    others = [
        SourceDocument(
            source=f"test:{number}",
            title=title,
            language="en",
            text=f"# {title}\n\n{text}",
        )
        for number, (title, text) in enumerate(
            [
                ("Invoices", "Invoices are sent on the first day of the month to the billing address."),
                ("Single sign-on", "Connect your identity provider with SAML and map the groups to roles."),
                ("Exports", "Export all records as CSV from the data menu; large exports arrive by mail."),
                ("Webhooks", "A webhook is called within a minute of the event and retried for a day."),
                ("Regions", "Data is kept in the region that was chosen when the account was opened."),
            ]
        )
    ]
    await app.ingester.ingest([DOCUMENT, *others])
    return child_environment(HARRY_DATABASE_URL=settings.database_url.get_secret_value(), HARRY_LOG_LEVEL="INFO")


def structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    return "\n".join(getattr(block, "text", "") for block in result.content)


@pytest.mark.promise("MCP-1")
@pytest.mark.promise("RUN-7")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_lists_searches_and_reads(environment: dict[str, str], mode: str) -> None:
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment)
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        found = structured(await client.call_tool("search_kb", {"query": QUESTION}))
        assert found["hits"][0]["url"] == DOCUMENT.url
        assert found["citations"][0] == {
            "title": "API keys",
            "url": DOCUMENT.url,
            "source": DOCUMENT.source,
            "document_id": DOCUMENT.id,
            "score": found["hits"][0]["score"],
        }
        page = structured(await client.call_tool("read_document", {"document_id": found["hits"][0]["document_id"]}))
        assert page["text"] == DOCUMENT.text
        assert page["next_offset"] == -1


@pytest.mark.promise("MCP-2")
async def test_text_and_structured_form_say_the_same(environment: dict[str, str]) -> None:
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment)
    async with Client(server) as client:
        result = await client.call_tool("search_kb", {"query": QUESTION})
    found, text = structured(result), text_of(result)
    verdict = found["verdict"]
    for fact in (
        verdict["band"],
        f"{verdict['score']:.2f}",
        verdict["next_action"],
        verdict["reason"],
        verdict["relevance_source"],
        found["search_id"],
        found["status"],
        found["query"],
    ):
        assert str(fact) in text
    for hit in found["hits"]:
        for fact in (hit["title"], hit["text"], hit["document_id"], f"{hit['score']:.2f}", *hit["chunk_ids"]):
            assert str(fact) in text


class RawServer:
    """A server spoken to by hand, line by line."""

    def __init__(self, environment: dict[str, str], tmp_path: Path) -> None:
        self.errors = tmp_path / "stderr.log"
        self.started = time.perf_counter()
        self._stderr = self.errors.open("w", encoding="utf-8")
        self.process = subprocess.Popen(
            COMMAND, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        self._id = 0

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors.read_text(encoding="utf-8")
        return json.loads(line)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        while True:
            answer = self.receive()
            if answer.get("id") == self._id:
                return answer

    def initialize(self, version: str) -> dict[str, Any]:
        answer = self.request(
            "initialize",
            {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}},
        )
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer["result"]

    def discard(self) -> None:
        """Close what is still open, whatever became of the process."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self._stderr.close()

    def close(self) -> bytes:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        assert self.process.wait(timeout=20) == 0
        self._stderr.close()
        return rest


@pytest.fixture
def raw(environment: dict[str, str], tmp_path: Path) -> Iterator[RawServer]:
    server = RawServer(environment, tmp_path)
    yield server
    server.discard()


@pytest.mark.promise("RUN-7")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_older_revisions_by_hand_and_nothing_but_protocol_on_stdout(raw: RawServer, version: str) -> None:
    hello = raw.initialize(version)
    assert hello["protocolVersion"] == version
    assert len(hello["instructions"]) < 2000
    listed = raw.request("tools/list", {})["result"]["tools"]
    assert [tool["name"] for tool in listed] == TOOLS
    answer = raw.request("tools/call", {"name": "search_kb", "arguments": {"query": QUESTION, "k": 1}})
    assert answer["result"]["structuredContent"]["hits"][0]["title"] == "API keys"
    assert raw.close() == b""
    for line in raw.errors.read_text(encoding="utf-8").splitlines():
        assert {"time", "level", "logger", "message"} <= set(json.loads(line))


HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("search_kb", {}, "query is missing"),
    ("search_kb", {"query": ""}, "holds no word"),
    ("search_kb", {"query": " \u0000\u0007 ?!"}, "holds no word"),
    ("search_kb", {"query": "x" * 1_000_000}, "send at most 8,000"),
    ("search_kb", {"query": 7}, "query cannot be used"),
    ("search_kb", {"query": ["a"]}, "query cannot be used"),
    ("search_kb", {"query": "a", "k": 0}, "Number of hits, 1 to 50"),
    ("search_kb", {"query": "a", "k": 10_000}, "Number of hits, 1 to 50"),
    ("search_kb", {"query": "a", "k": "many"}, "k cannot be used"),
    ("search_kb", {"query": "a", "limit": 3}, "has no argument 'limit'"),
    ("search_kb", {"query": "a", "updated_since": "yesterday"}, "send a date like 2026-01-31"),
    ("read_document", {"document_id": "doc_none"}, "There is no document 'doc_none'"),
    ("read_document", {"document_id": ""}, "There is no document"),
    ("read_document", {"document_id": DOCUMENT.id, "offset": -1}, "First character to read"),
    ("read_document", {"document_id": DOCUMENT.id, "offset": 10_000}, "behind the end"),
    ("search", {"query": "a"}, "The tools are: search_kb, read_document"),
]


@pytest.mark.promise("MCP-3")
def test_bad_input_gets_one_sentence_that_says_what_to_do(raw: RawServer) -> None:
    raw.initialize("2025-06-18")
    for name, arguments, sentence in HOSTILE:
        result = raw.request("tools/call", {"name": name, "arguments": arguments})["result"]
        text = result["content"][0]["text"]
        assert result["isError"], (arguments, text)
        assert sentence in text, (arguments, text)
        assert len(text) < 600
        assert "structuredContent" not in result
    assert raw.close() == b""


@pytest.mark.promise("MCP-3")
@pytest.mark.promise("MCP-10")
def test_odd_but_usable_input_gets_a_right_answer(raw: RawServer) -> None:
    raw.initialize("2025-06-18")
    odd: list[dict[str, Any]] = [
        {"query": QUESTION, "k": None, "topic": None},
        {"query": "rotate'; DROP TABLE documents; --"},
        {"query": "rotate\u0000 the\u200b API \u202ekey"},
        {"query": "ключ API rotate 密钥 مفتاح"},
        {"query": "rotate API key " * 400},
        {"query": QUESTION, "k": "3"},
        {"query": QUESTION, "updated_since": "2020-01-01"},
    ]
    for arguments in odd:
        result = raw.request("tools/call", {"name": "search_kb", "arguments": arguments})["result"]
        assert not result.get("isError"), (arguments, result)
        assert result["structuredContent"]["hits"][0]["title"] == "API keys", arguments
    nothing = raw.request(
        "tools/call", {"name": "search_kb", "arguments": {"query": QUESTION, "topic": "no such topic"}}
    )["result"]["structuredContent"]
    assert nothing["status"] == "empty"
    assert nothing["verdict"]["next_action"] == "call_web_fallback"
    assert raw.close() == b""


@pytest.mark.promise("MCP-3")
def test_lone_surrogates_neither_hang_nor_break_the_server(raw: RawServer) -> None:
    raw.initialize("2025-06-18")
    raw.send(
        rb'{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"search_kb",'
        rb'"arguments":{"query":"rotate \ud800 key"}}}'
    )
    answer = raw.receive()
    assert "error" in answer or answer["result"]["structuredContent"]["hits"]
    again = raw.request("tools/call", {"name": "search_kb", "arguments": {"query": QUESTION}})
    assert again["result"]["structuredContent"]["hits"][0]["title"] == "API keys"


@pytest.mark.promise("RUN-3")
@pytest.mark.promise("RUN-7")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_server_and_its_postgresql(number: int, code: int) -> None:
    with tempfile.TemporaryDirectory(prefix="harry-tests-", ignore_cleanup_errors=True) as folder:
        environment = child_environment(HARRY_DATA_DIR=folder, HARRY_DATABASE_URL="")
        server = RawServer(environment, Path(folder))
        server.initialize("2025-06-18")
        answer = server.request("tools/call", {"name": "search_kb", "arguments": {"query": "anything"}})
        assert answer["result"]["structuredContent"]["status"] == "empty"
        assert (Path(folder) / "postgres" / "cluster" / "postmaster.pid").exists()
        # The pipe stays open: a host that goes by signal does not close it first.
        server.process.send_signal(number)
        assert server.process.wait(timeout=20) == code
        assert not (Path(folder) / "postgres" / "cluster" / "postmaster.pid").exists()
        server.discard()


@pytest.mark.promise("OPS-3")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_embedded_postgresql_that_dies_is_started_again_by_the_next_call() -> None:
    with tempfile.TemporaryDirectory(prefix="harry-tests-", ignore_cleanup_errors=True) as folder:
        server = RawServer(child_environment(HARRY_DATA_DIR=folder, HARRY_DATABASE_URL=""), Path(folder))
        server.initialize("2025-06-18")
        ask = {"name": "search_kb", "arguments": {"query": "anything"}}
        assert server.request("tools/call", ask)["result"]["structuredContent"]["status"] == "empty"
        postmaster = (Path(folder) / "postgres" / "cluster" / "postmaster.pid").read_text(encoding="utf-8")
        os.kill(int(postmaster.splitlines()[0]), signal.SIGKILL)
        again = server.request("tools/call", ask)["result"]
        assert not again.get("isError"), again
        assert again["structuredContent"]["status"] == "empty"
        server.close()
        server.discard()
