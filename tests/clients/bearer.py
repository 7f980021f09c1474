"""A proxy that adds the bearer token, for clients that cannot send one; everything else passes as it is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

_LENGTH = re.compile(rb"^content-length: *(\d+)\r?$", re.IGNORECASE | re.MULTILINE)
_PIECE = 65536


class Bearing:
    """Passes each connection on to the server at ``port``."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._field = f"\r\nAuthorization: Bearer {token}\r\n".encode()
        self.open: set[asyncio.Task[None]] = set()

    def accept(self, client: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(client, writer))
        self.open.add(task)
        task.add_done_callback(self.open.discard)

    async def _serve(self, client: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        answers = asyncio.create_task(_pour(server, writer))
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    to_server.write(await self._request(client))
                    await to_server.drain()
        finally:
            await _close(to_server)
            await answers

    async def _request(self, client: asyncio.StreamReader) -> bytes:
        head = await client.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await client.readexactly(int(length[1])) if length else b""
        line, _, fields = head.partition(b"\r\n")
        return line + self._field + fields + body


async def _pour(server: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass answers on as they come, for one may be a stream of events."""
    with suppress(ConnectionError):
        while data := await server.read(_PIECE):
            writer.write(data)
            await writer.drain()
    await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


@asynccontextmanager
async def bearing(base: str, token: str) -> AsyncGenerator[str]:
    """The address of a proxy in front of the server at ``base``. Its clients have to be gone at the end."""
    proxy = Bearing(int(base.rpartition(":")[2]), token)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await asyncio.wait_for(asyncio.gather(*proxy.open), 20)
        await server.wait_closed()
