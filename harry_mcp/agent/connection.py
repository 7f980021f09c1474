"""The line to an MCP server: a command that is started here, or an address."""

from __future__ import annotations

import asyncio
import ipaddress
import shlex
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from harry_mcp.domain.plain import one_line
from harry_mcp.errors import InputError, ServerUnavailable, ToolFailed
from harry_mcp.settings import AgentSection, child_environment

if TYPE_CHECKING:
    import httpx2
    from mcp.client import Client
    from mcp_types import CallToolResult, Tool

_TOKEN = "HARRY_AGENT__TOKEN"  # noqa: S105 - the name of a setting
_LONGEST_ERROR = 1000


@dataclass(frozen=True, slots=True)
class ServerTarget:
    """Where the server is: ``url``, or the words of a ``command``, started with changes to this environment."""

    url: str = ""
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, text: str, default: Sequence[str]) -> ServerTarget:
        """What a person wrote; nothing gives ``default``, a command.

        Raises:
            InputError: it is neither an address nor a command.
        """
        text = text.strip()
        if text.lower().startswith(("http://", "https://")):
            if not urlsplit(text).hostname:
                raise InputError(f"{text} names no host. Write the whole address of the MCP endpoint.")
            return cls(url=text)
        try:
            words = tuple(shlex.split(text)) or tuple(default)
        except ValueError as error:
            raise InputError(f"The command of the server cannot be read: {error}. Check its quotes.") from error
        return cls(command=words)

    @property
    def name(self) -> str:
        """For people; without what an address may carry in its user part or query."""
        if not self.url:
            return " ".join(self.command)
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool returned. ``text`` is for a model to read, ``structured`` for the agent."""

    text: str
    structured: Mapping[str, Any] | None


class Connection:
    """One server, connected when it is first asked and again after it went away. For one task only."""

    def __init__(self, target: ServerTarget, settings: AgentSection) -> None:
        self.target = target
        self._settings = settings
        self._client: Client | None = None
        self._open: AsyncExitStack | None = None
        self._tools: dict[str, Tool] = {}
        self._refused = 0

    async def tools(self) -> Mapping[str, Tool]:
        """The tools by name.

        Raises:
            ServerUnavailable: the server cannot be started or reached, or is no MCP server.
            InputError: the token would travel in the clear.
        """
        await self._connected()
        return self._tools

    async def call(self, name: str, arguments: Mapping[str, Any], *, timeout: float | None = None) -> ToolAnswer:
        """Call a tool.

        Raises:
            ServerUnavailable: the server went away or did not answer in time; the next call connects anew.
            ToolFailed: the server has no such tool, or the tool says what is wrong.
        """
        client = await self._connected()
        if name not in self._tools:
            raise ToolFailed(f"The server has no tool {name}. It has: {', '.join(sorted(self._tools)) or 'none'}.")
        seconds = self._settings.tool_seconds if timeout is None else min(timeout, self._settings.tool_seconds)
        try:
            async with asyncio.timeout(seconds):
                result = await client.call_tool(name, dict(arguments))
        except TimeoutError as error:
            raise ServerUnavailable(
                f"{name} did not answer in time ({seconds:.3g} s). HARRY_AGENT__TOOL_SECONDS gives it longer."
            ) from error
        except _faults() as error:
            if _refusal(error):
                raise ToolFailed(f"{name} refused the call: {_words(error)}.") from error
            await self.close()
            raise ServerUnavailable(f"The server went away during {name}: {self._told(error)}.") from error
        text = _text(result)
        if result.is_error:
            # The SDK's servers put these words before those of the tool.
            why = one_line(text.removeprefix(f"Error executing tool {name}: "), _LONGEST_ERROR)
            raise ToolFailed(why or f"{name} failed and did not say why.")
        return ToolAnswer(text, result.structured_content)

    async def close(self) -> None:
        """End the connection, and the server when it was started here."""
        opened, self._open, self._client = self._open, None, None
        if opened is not None:
            # A server that is gone already cannot be taken leave of.
            with suppress(*_faults(), TimeoutError):
                await opened.aclose()

    async def _connected(self) -> Client:
        if self._client is not None:
            return self._client
        name, seconds = self.target.name, self._settings.connect_seconds
        stack = AsyncExitStack()
        try:
            async with asyncio.timeout(seconds):
                client = await stack.enter_async_context(await self._dial(stack))
                listed = await _listed(client)
        except BaseException as error:
            with suppress(*_faults(), TimeoutError):
                await stack.aclose()
            if isinstance(error, TimeoutError):
                raise ServerUnavailable(f"The MCP server {name} did not answer in time ({seconds:.3g} s).") from error
            if isinstance(error, _faults()):
                raise ServerUnavailable(f"The MCP server {name} cannot be used: {self._told(error)}.") from error
            raise
        self._open, self._client, self._tools = stack, client, listed
        return client

    async def _dial(self, stack: AsyncExitStack) -> Client:
        from mcp.client import Client
        from mcp.client.stdio import StdioServerParameters
        from mcp.client.streamable_http import streamable_http_client

        if not self.target.url:
            command, *arguments = self.target.command
            given = child_environment(**self.target.environment)
            given.pop(_TOKEN, None)  # it belongs to servers at addresses
            return Client(StdioServerParameters(command=command, args=arguments, env=given))
        import httpx2

        token = self._settings.token.get_secret_value().strip()
        http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {_sendable(token, self.target.url)}"} if token else None,
            timeout=httpx2.Timeout(self._settings.connect_seconds, read=max(300.0, self._settings.tool_seconds + 5)),
            event_hooks={"response": [self._look_at]},
        )
        await stack.enter_async_context(http)
        return Client(streamable_http_client(self.target.url, http_client=http))

    async def _look_at(self, response: httpx2.Response) -> None:
        """The SDK says of a refusal that there was an error; people want to know which."""
        self._refused = response.status_code if response.status_code in (401, 403) else 0

    def _told(self, error: Exception) -> str:
        if self._refused:
            return f"it refuses the token ({self._refused}). Check {_TOKEN}"
        return _words(error)


def _sendable(token: str, url: str) -> str:
    """The token, if it may travel there.

    Raises:
        InputError: it would travel in the clear, or is none.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if parts.scheme != "https" and not here:
        raise InputError(f"{_TOKEN} is sent over https only, and {parts.scheme}://{host} is not. Use https.")
    if not (token.isascii() and token.isprintable()):
        raise InputError(f"{_TOKEN} holds characters that no token has.")
    return token


async def _listed(client: Client) -> dict[str, Tool]:
    """All tools, page by page; a server that never comes to an end is cut off."""
    found: dict[str, Tool] = {}
    cursor: str | None = None
    for _ in range(20):
        page = await client.list_tools(cursor=cursor)
        found |= {tool.name: tool for tool in page.tools}
        cursor = page.next_cursor
        if not cursor:
            break
    return found


def _faults() -> tuple[type[Exception], ...]:
    """What the SDK raises when a server is not there, goes, or talks nonsense."""
    import anyio
    import httpx2
    from mcp.shared.exceptions import MCPError

    return (
        MCPError,
        OSError,
        ValueError,  # a pydantic error among them
        RuntimeError,
        ExceptionGroup,
        httpx2.HTTPError,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        anyio.EndOfStream,
    )


def _refusal(error: Exception) -> bool:
    """Whether the server is there and said no, in the protocol's words."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

    return isinstance(error, MCPError) and error.code not in (CONNECTION_CLOSED, REQUEST_TIMEOUT)


def _words(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _words(cast(BaseExceptionGroup[BaseException], error).exceptions[0])
    return one_line(str(error), 200).rstrip(". ") or type(error).__name__


def _text(result: CallToolResult) -> str:
    texts = (getattr(block, "text", None) for block in result.content)
    return "\n".join(text for text in texts if isinstance(text, str))
