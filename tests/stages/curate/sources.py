"""A site whose pages come and go, on the loopback address: answers by method and path, as a test wants them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Says:
    """One answer. ``resets`` hangs up without one, ``hangs`` says nothing until the client goes."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    resets: bool = False
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    host: str
    range: str


Page = Says | Callable[[Asked], Says]
NOT_THERE = Says(404)


def moved(to: str, status: int = 301) -> Says:
    return Says(status, {"location": to})


def by_method(**says: Says) -> Callable[[Asked], Says]:
    """``head=..., get=...``"""
    return lambda asked: says[asked.method.lower()]


class Site:
    """The pages, which a test may change at any time, and what was asked of them."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: list[Asked] = []
        self.url = ""
        self.port = 0
        self.at_once = self.most_at_once = 0

    def taken(self) -> list[tuple[str, str]]:
        """Method and path of what was asked since the last look."""
        asked, self.asked = self.asked, []
        return [(each.method, each.path) for each in asked]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while line := (await reader.readline()).decode("latin-1").strip():
                    if len(line.split()) != 3:  # a handshake, or whatever it is
                        break
                    await self._one(line, reader, writer)
        finally:
            writer.close()

    async def _one(self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        headers: dict[str, str] = {}
        while header := (await reader.readline()).decode("latin-1").strip():
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        method, path, _ = line.split()
        asked = Asked(method, path, headers.get("host", ""), headers.get("range", ""))
        self.asked.append(asked)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.005)  # so that requests made together are here together
        self.at_once -= 1
        page = self.pages.get(path, NOT_THERE)
        says = page if isinstance(page, Says) else page(asked)
        if says.resets:
            raise ConnectionError
        if says.hangs:
            await reader.read()
            raise ConnectionError
        body = b"" if method == "HEAD" else b"page"
        fields = {"content-length": str(len(body)), **says.headers}
        head = f"HTTP/1.1 {says.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(head.encode() + b"\r\n" + body)
        await writer.drain()


@asynccontextmanager
async def serving(site: Site) -> AsyncGenerator[Site]:
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    site.url = f"http://127.0.0.1:{site.port}"
    try:
        yield site
    finally:
        server.close()
