"""Calling a tool from this process, for a page of our own: the way is a client's, without a transport."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import MessageMetadata, ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import RequestId
from mcp_types.version import LATEST_HANDSHAKE_VERSION

from harry_mcp.domain.people import Principal
from harry_mcp.errors import InputError
from harry_mcp.server.state import ServerState


@dataclass
class _NobodyToAsk:
    """A request's way back to a client where there is none: nothing can be asked, and progress is not wanted."""

    message_metadata: MessageMetadata
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="in-process", can_send_request=False)
    )
    request_id: RequestId | None = 0
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        return None

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        return None


async def call_in_process(
    server: Server[ServerState], state: ServerState, name: str, arguments: Mapping[str, Any], *, caller: Principal
) -> dict[str, Any]:
    """The structured result of a tool.

    Raises:
        InputError: the tool said what is wrong; the message is its own.
    """
    result = await serve_one(
        server,
        _NobodyToAsk(ServerMessageMetadata(request_context=caller)),
        "tools/call",
        {"name": name, "arguments": dict(arguments)},
        connection=Connection.from_envelope(LATEST_HANDSHAKE_VERSION, None, None),
        lifespan_state=state,
    )
    if result.get("isError"):
        raise InputError(" ".join(block["text"] for block in result["content"] if "text" in block))
    return result["structuredContent"]
