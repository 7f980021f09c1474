"""``harry serve --http`` as a process of its own on a free port, and a browser's way of speaking to its console."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from harry_mcp.settings import Settings, child_environment

TOKEN = "a-token-of-the-tests-0123456789-abcdef"
OWN = {"Sec-Fetch-Site": "same-origin"}
COMMAND = [sys.executable, "-W", "error", "-m", "harry_mcp.cli.main", "serve", "--http"]


class Served:
    """A server that answers, its address, and what it said on stderr, which a thread reads so that no pipe fills."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.base = ""
        self._lines: list[str] = []
        self._up = threading.Event()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.append(line)
            if found := re.match(r"harry serves MCP at (\S+)/mcp$", line):
                self.base = found[1]
            if line.startswith("Press Ctrl-C"):
                self._up.set()
        self._up.set()

    def said(self) -> str:
        return "".join(self._lines)

    def up(self) -> Served:
        assert self._up.wait(60)
        assert self.base, self.said()
        return self

    def ended(self) -> int:
        """How it ended, once it has; all that it said is read then."""
        code = self.process.wait(60)
        self._reading.join(10)
        return code


@contextmanager
def started(folder: Path, *options: str, **environment: str) -> Generator[Served]:
    """A server that may be up, or may have ended."""
    given = child_environment(**{"HARRY_HTTP__TOKEN": TOKEN, "HARRY_DATA_DIR": str(folder)} | environment)
    process = subprocess.Popen(
        [*COMMAND, *options],
        env=given,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    server = Served(process)
    try:
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        server.ended()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def served(folder: Path, *options: str, **environment: str) -> Generator[Served]:
    """A server that is up, on any free port."""
    with started(folder, "--port", "0", *options, **environment) as server:
        yield server.up()


def with_database(settings: Settings) -> dict[str, str]:
    return {"HARRY_DATABASE_URL": settings.database_url.get_secret_value()}


class Browser:
    """What a browser with the console's page does: it keeps the cookie and sends what the page was given."""

    def __init__(self, base: str) -> None:
        self.http = httpx.Client(base_url=base, timeout=60, headers={"Origin": base, **OWN})
        self.csrf = ""

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def sign_in(self, token: str = TOKEN) -> httpx.Response:
        response = self.http.post("/admin/login", data={"token": token})
        if response.status_code == 303:
            found = re.search(r'<meta name="harry-csrf" content="([^"]+)">', self.http.get("/admin").text)
            assert found is not None
            self.csrf = found[1]
        return response

    def call(
        self, tool: str, arguments: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        body = {"tool": tool, "arguments": arguments or {}}
        return self.http.post("/admin/call", json=body, headers={"X-Harry-CSRF": self.csrf, **(headers or {})})
