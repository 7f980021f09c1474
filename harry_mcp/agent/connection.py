"""The line to an MCP server: tools are listed and called, and every fault is told in a sentence."""

from __future__ import annotations

import asyncio
import ipaddress
import math
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from harry_mcp.agent.contract import doing
from harry_mcp.agent.faults import TOKEN, faults, never_sent, refusal, why, words
from harry_mcp.agent.held import Held
from harry_mcp.agent.responding import Response
from harry_mcp.agent.target import ServerTarget
from harry_mcp.domain.plain import one_line
from harry_mcp.errors import KIND, InputError, ServerBusy, ServerUnavailable, ToolFailed
from harry_mcp.settings import AgentSection, child_environment

if TYPE_CHECKING:
    import httpx2
    from mcp.client import Client
    from mcp_types import CallToolResult, Tool

_LONGEST_ERROR = 1000


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool returned. ``text`` is for a model to read, ``structured`` for the agent."""

    text: str
    structured: Mapping[str, Any] | None


class _SessionOver(Exception):
    """The server does not know the session any more, so it has run nothing."""


class Connection:
    """One server, connected when it is first asked and again after it went away. For one task only."""

    def __init__(
        self, target: ServerTarget, settings: AgentSection, tell: Callable[[str], None] = lambda _line: None
    ) -> None:
        """``tell`` is given a line for people where they are kept waiting.

        ``unsent`` says of the last call that failed whether the server surely did nothing.
        """
        self.target = target
        self._settings = settings
        self._tell = tell
        self._held: Held | None = None
        self._tools: dict[str, Tool] = {}
        self._last = Response()
        self.unsent = False

    async def tools(self) -> Mapping[str, Tool]:
        """The tools by name.

        Raises:
            ServerUnavailable: the server cannot be started or reached, or is no MCP server.
            InputError: the token would travel in the clear.
        """
        await self._connected()
        return self._tools

    async def call(self, name: str, arguments: Mapping[str, Any], *, timeout: float | None = None) -> ToolAnswer:
        """Call a tool. A server that asks to wait for a few seconds is asked once more then.

        Raises:
            ServerUnavailable: the server went away or did not answer in time; the next call connects anew.
            ServerBusy: it asks to wait longer than that.
            ToolFailed: the server has no such tool, or the tool says what is wrong.
        """
        seconds = self._settings.tool_seconds if timeout is None else min(timeout, self._settings.tool_seconds)
        try:
            return await self._called(name, arguments, seconds)
        except _SessionOver:
            await self.close()
        except ServerBusy as error:
            if not 0 < error.seconds <= self._settings.busy_seconds:
                raise
            self._tell(f"The server asks to wait {math.ceil(error.seconds)} s. It is asked once more then.")
            await asyncio.sleep(error.seconds)
        try:
            return await self._called(name, arguments, seconds)
        except _SessionOver as error:
            raise ServerUnavailable(f"The server ended the session during {doing(name)}. Try again.") from error

    async def close(self) -> BaseException | None:
        """End the connection, and the server when it was started here; what had ended it before, if anything had."""
        held, self._held = self._held, None
        return None if held is None else await held.close()

    async def _called(self, name: str, arguments: Mapping[str, Any], seconds: float) -> ToolAnswer:
        self.unsent = True
        held = await self._connected()
        if name not in self._tools:
            has = one_line(", ".join(sorted(self._tools)), _LONGEST_ERROR) or "none"
            raise ToolFailed(
                f"The server does not speak harry's contract: it has no tool for {doing(name)}, only {has}."
            )
        self._last, self.unsent = Response(), False
        try:
            async with asyncio.timeout(seconds):
                result = await held.ask(held.client.call_tool(name, dict(arguments)))
        except TimeoutError as error:
            raise ServerUnavailable(
                f"The server did not answer in time ({seconds:.3g} s) during {doing(name)}. HARRY_AGENT__TOOL_SECONDS "
                "gives it longer."
            ) from error
        except faults() as error:
            raise await self._failed(name, error) from error
        text = _text(result)
        if result.is_error:
            # The SDK's servers put these words before those of the tool.
            said = one_line(text.removeprefix(f"Error executing tool {name}: "), _LONGEST_ERROR)
            kind = str((result.meta or {}).get(KIND, ""))
            raise ToolFailed(said or f"The server failed during {doing(name)} and did not say why.", kind=kind)
        return ToolAnswer(text, result.structured_content)

    async def _failed(self, name: str, error: Exception) -> Exception:
        """The error that a failed call is told as. Whatever may be broken is closed."""
        last = self._last
        self.unsent = 400 <= last.status < 500 or never_sent(error)
        if last.busy:
            return self._busy(last)
        if refusal(error) and last.status == 404:
            return _SessionOver()
        if refusal(error) and last.status < 400:
            return ToolFailed(f"The server refused {doing(name)}: {words(error)}.")
        ended = await self.close() or error
        self.unsent = self.unsent or never_sent(ended)
        did = "did not take" if last.status >= 400 else "went away during"
        return ServerUnavailable(f"The server {did} {doing(name)}: {self._why(ended)}")

    async def _connected(self) -> Held:
        if self._held is not None:
            return self._held
        name, seconds = self.target.name, self._settings.connect_seconds
        self._last = Response()
        held: Held | None = None
        try:
            async with asyncio.timeout(seconds):
                held = await Held.opened(self._dial)
                listed = await held.ask(_listed(held.client))
        except BaseException as error:
            if held is not None:
                await held.close()
            if isinstance(error, TimeoutError):
                asked = (
                    "Is it one" if self.target.url else "Does that command serve MCP on its standard input and output"
                )
                raise ServerUnavailable(
                    f"The MCP server {name} did not answer in time ({seconds:.3g} s). {asked}?"
                ) from error
            if isinstance(error, faults()):
                if self._last.busy:
                    raise self._busy(self._last) from error
                why_not = self._why(error, opening=True)
                raise ServerUnavailable(f"The MCP server {name} cannot be used: {why_not}") from error
            raise
        self._held, self._tools = held, listed
        return held

    def _why(self, error: BaseException, *, opening: bool = False) -> str:
        return why(error, self.target, self._last, token=bool(self._token), opening=opening)

    def _busy(self, last: Response) -> ServerBusy:
        seconds = max(0.0, last.wait)
        when = f"in {math.ceil(seconds)} s" if last.wait >= 0 else "a little later"
        return ServerBusy(
            f"The server takes no more requests for now ({last.status}). Ask again {when}.", seconds=seconds
        )

    @property
    def _token(self) -> str:
        return self._settings.token.get_secret_value().strip()

    async def _dial(self, stack: AsyncExitStack) -> Client:
        from mcp.client import Client
        from mcp.client.stdio import StdioServerParameters
        from mcp.client.streamable_http import streamable_http_client

        if not self.target.url:
            command, *arguments = self.target.command
            given = child_environment(**self.target.environment)
            given.pop(TOKEN, None)  # it belongs to servers at addresses
            return Client(StdioServerParameters(command=command, args=arguments, env=given))
        import httpx2

        token = self._token
        http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {_sendable(token, self.target.url)}"} if token else None,
            timeout=httpx2.Timeout(self._settings.connect_seconds, read=max(300.0, self._settings.tool_seconds + 5)),
            event_hooks={"response": [self._look_at]},
        )
        await stack.enter_async_context(http)
        return Client(streamable_http_client(self.target.url, http_client=http))

    async def _look_at(self, response: httpx2.Response) -> None:
        if response.request.method == "POST":
            self._last = await Response.of(response)


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
        raise InputError(f"{TOKEN} is sent over https only, and {parts.scheme}://{host} is not. Use https.")
    if not (token.isascii() and token.isprintable()):
        raise InputError(f"{TOKEN} holds characters that no token has.")
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


def _text(result: CallToolResult) -> str:
    texts = (getattr(block, "text", None) for block in result.content)
    return "\n".join(text for text in texts if isinstance(text, str))
