"""A vendor's API on this machine: real HTTP, answers as the test wants them, and everything that was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    body: Any
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class Answer:
    """One response. A body that is no text is sent as JSON.

    ``hangs`` sends nothing at all until the client goes, ``closes`` hangs up at once, ``half`` promises more of the
    body than it sends, and ``endless`` never stops sending it.
    """

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    hangs: bool = False
    closes: bool = False
    half: bool = False
    endless: bool = False


Answering = Callable[[Asked, int], Answer]


def always(answer: Answer) -> Answering:
    """The same answer to everything."""
    return lambda _asked, _number: answer


class Vendor:
    """The running server. ``answering`` is given the request and how many were before it."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.asked: list[Asked] = []
        self.opened = 0
        self.at_once = 0
        self.most_at_once = 0
        self.url = ""
        self.first = asyncio.Event()
        # Set when a client went away from an answer that hung: its call was cancelled and not only left behind.
        self.left = asyncio.Event()
        self.connections: set[asyncio.Task[Any]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.add(task)
        self.opened += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while (line := await reader.readline()).strip():
                    await self._one(line.decode(), reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()
            self.connections.discard(task)

    async def _one(self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        headers: dict[str, str] = {}
        while header := (await reader.readline()).decode().strip():
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(line.split()[1], headers, json.loads(raw) if raw else None, line.split()[0])
        number = len(self.asked)
        self.asked.append(asked)
        self.first.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0.01)  # so that requests made together are here together
        self.at_once -= 1
        answer = self.answering(asked, number)
        if answer.closes:
            raise ConnectionError
        if answer.hangs:
            await reader.read()  # until the client goes
            self.left.set()
            raise ConnectionError
        body = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        data = body.encode()
        length = {} if answer.endless else {"content-length": str(len(data))}
        fields = {"content-type": "application/json", **length, **answer.headers}
        head = f"HTTP/1.1 {answer.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(head.encode() + b"\r\n" + (data[: len(data) // 2] if answer.half else data))
        await writer.drain()
        while answer.endless:
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(0.001)
        if answer.half:
            raise ConnectionError


@asynccontextmanager
async def vendor(answering: Answering) -> AsyncGenerator[Vendor, None]:
    running = Vendor(answering)
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    running.url = "http://{}:{}".format(*server.sockets[0].getsockname()[:2])
    try:
        yield running
    finally:
        server.close()
        for connection in list(running.connections):
            connection.cancel()
        await asyncio.gather(*running.connections, return_exceptions=True)


def message(text: str, **fields: Any) -> dict[str, Any]:
    """An answer of the Messages API."""
    usage = {"input_tokens": 12, "output_tokens": 7, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 0}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
        **fields,
    }


def error(kind: str, words: str) -> dict[str, Any]:
    """A refusal of the Messages API."""
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}
