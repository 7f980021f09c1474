"""A plain load balancer: each request goes to the next server, whoever sent it, and what went where is noted."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_LENGTH = re.compile(rb"^content-length: *(\d+)\r?$", re.IGNORECASE | re.MULTILINE)


@dataclass
class RoundRobin:
    """``took``: how often each server was given a request; ``lost``: requests that broke off on it."""

    ports: Sequence[int]
    base: str = ""
    took: Counter[int] = field(default_factory=Counter[int])
    lost: Counter[int] = field(default_factory=Counter[int])
    open: Counter[int] = field(default_factory=Counter[int])
    way: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    _turn: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request of one connection."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1])) if length else b""
            line, _, fields = head.partition(b"\r\n")
            fields = re.sub(rb"(?im)^connection:.*\r\n", b"", fields)
            answer = await self._answer(line.decode(), line + b"\r\nConnection: close\r\n" + fields + body)
            writer.write(answer)
            await writer.drain()
        writer.close()

    async def _answer(self, line: str, request: bytes) -> bytes:
        for _ in self.ports:
            number = self._turn % len(self.ports)
            self._turn += 1
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.ports[number])
            except ConnectionError:
                continue  # nothing was sent: the next one gets it
            self.took[number] += 1
            self.open[number] += 1
            self.way.append((line, number))
            try:
                writer.write(request)
                await writer.drain()
                answer = await reader.read()
            except ConnectionError:
                answer = b""
            finally:
                self.open[number] -= 1
                writer.close()
            if whole(answer):
                return answer
            self.lost[number] += 1
            return _BAD_GATEWAY
        return _BAD_GATEWAY


def whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    length = _LENGTH.search(head + b"\r\n")
    return bool(end) and (length is None or len(body) == int(length[1]))


@asynccontextmanager
async def balancing(*bases: str) -> AsyncGenerator[RoundRobin]:
    """A load balancer in front of servers."""
    proxy = RoundRobin([int(base.rpartition(":")[2]) for base in bases])
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        await server.wait_closed()
