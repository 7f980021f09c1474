"""The tools of the server: called for the agent and for a model, recorded, and held to what the contract allows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sized
from contextlib import suppress
from typing import Any, TypeVar

from harry_mcp.agent.answers import Called, Calling, Listener, ToolUse
from harry_mcp.agent.connection import Connection, ToolAnswer
from harry_mcp.agent.contract import Hit, Official, SearchResult, WebResult, read
from harry_mcp.agent.course import may_ask_web
from harry_mcp.agent.prompt import fenced, source_lines
from harry_mcp.agent.sources import Source, Sources
from harry_mcp.domain.chat import ToolCall, ToolResult, ToolSpec
from harry_mcp.domain.plain import one_line, sanitised
from harry_mcp.errors import ServerUnavailable, ToolFailed
from harry_mcp.settings import AgentSection

SEARCH, WEB, READ, LOOKUP = "search_kb", "web_fallback", "read_document", "verified_lookup"
# What a model may call: tools that only read. A document that talks it into writing finds nothing to write with.
_OFFERED = (SEARCH, READ, LOOKUP, "check_claim", WEB)
_LONGEST_DESCRIPTION = 4000
_SAID = 300

T = TypeVar("T")


class Toolbox:
    """The tools for one answer."""

    def __init__(self, connection: Connection, sources: Sources, settings: AgentSection, listen: Listener) -> None:
        self._connection = connection
        self._sources = sources
        self._settings = settings
        self._listen = listen
        self._asked = 0
        self._may_ask_web = True
        self.uses: list[ToolUse] = []
        self.web: WebResult | None = None

    async def search(self, question: str, history: list[str]) -> SearchResult:
        """The first search, which the agent makes itself.

        Raises:
            ServerUnavailable, ToolFailed: there is no result.
        """
        arguments: dict[str, Any] = {"query": question, "k": self._settings.hits}
        if history:
            arguments["history"] = history
        tool = (await self._connection.tools()).get(SEARCH)
        taken = tool.input_schema.get("properties") if tool else None
        if taken:  # a server of the same contract may take less
            arguments = {name: value for name, value in arguments.items() if name == "query" or name in taken}
        answer = await self._call("agent", SEARCH, arguments)
        result = read(SearchResult, SEARCH, answer.structured)
        self._may_ask_web = may_ask_web(result)
        return result

    async def ask_web(self, question: str, search: SearchResult) -> WebResult | None:
        """The web, where the server can ask it."""
        if WEB not in await self._connection.tools():
            return None
        answer = await self._call("agent", WEB, {"query": question, "search_id": search.search_id})
        self.web = read(WebResult, WEB, answer.structured)
        return self.web

    async def offered(self) -> list[ToolSpec]:
        """The tools that a model is shown."""
        tools = await self._connection.tools()
        return [
            ToolSpec(name, sanitised(tools[name].description or "", _LONGEST_DESCRIPTION), tools[name].input_schema)
            for name in _OFFERED
            if name in tools and self._settings.tool_calls and (name != WEB or self._may_ask_web)
        ]

    async def run(self, call: ToolCall) -> ToolResult:
        """A call of the model. It is told what is wrong; nothing here ends the answer."""
        offered = [tool.name for tool in await self._offered_or_none()]
        if call.name not in offered:
            return self._refused(call, f"There is no tool {call.name[:80]!r}. The tools are: {', '.join(offered)}.")
        if self._asked >= self._settings.tool_calls:
            return self._refused(call, "No more tools for this answer. Answer from what you have.")
        self._asked += 1
        try:
            answer = await self._call("model", call.name, call.arguments)
            added = self._recorded(call.name, answer)
        except (ToolFailed, ServerUnavailable) as error:
            return ToolResult(call.id, fenced("error", sanitised(str(error), 2000)), failed=True)
        text = sanitised(answer.text, self._settings.evidence_characters)
        if not text:
            return ToolResult(call.id, "The tool returned nothing.")
        numbered = f"Cite as:\n{fenced('numbers', source_lines(added))}\n\n" if added else ""
        return ToolResult(call.id, f"{numbered}{fenced('result', text)}")

    async def _offered_or_none(self) -> list[ToolSpec]:
        try:
            return await self.offered()
        except ServerUnavailable:
            return []

    def _refused(self, call: ToolCall, why: str) -> ToolResult:
        use = ToolUse(
            name=one_line(call.name, 80), by="model", arguments=call.arguments, ok=False, said=why, seconds=0.0
        )
        self.uses.append(use)
        self._listen(Called(use))
        return ToolResult(call.id, why, failed=True)

    async def _call(self, by: str, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        self._listen(Calling(name, arguments))
        started = time.monotonic()
        said, ok = "", False
        try:
            answer = await self._connection.call(name, arguments)
            said, ok = _gist(name, answer), True
            return answer
        except (ToolFailed, ServerUnavailable) as error:
            said = one_line(str(error), _SAID)
            raise
        finally:
            took = time.monotonic() - started
            use = ToolUse(name=name, by=by, arguments=arguments, ok=ok, said=said, seconds=took)
            self.uses.append(use)
            self._listen(Called(use))

    def _recorded(self, name: str, answer: ToolAnswer) -> list[Source]:
        """The sources that the model may cite from now on. A reply that is none of the contract brings none."""
        given = answer.structured
        with suppress(ToolFailed):
            if name == SEARCH:
                result = read(SearchResult, name, given)
                self._may_ask_web = self._may_ask_web or may_ask_web(result)
                return list(dict.fromkeys(self._sources.add_search(result)))
            if name == WEB:
                self.web = read(WebResult, name, given)
                return self._sources.add_web(self.web)
            if name == READ:
                return [self._sources.add_hit(read(Hit, name, given))]
            if name == LOOKUP and given is not None:
                return self._sources.add_official(read(Official, name, given.get("verified")))
        return []


def _gist(name: str, answer: ToolAnswer) -> str:
    """A line on what came back, for people."""
    given = answer.structured or {}
    with suppress(ToolFailed):
        if name == SEARCH:
            result = read(SearchResult, name, given)
            official = f", official answer: {result.verified.match}" if result.verified.match != "none" else ""
            verdict = f"{one_line(result.verdict.band, 20)} {result.verdict.score:.2f}"
            return f"{verdict}, {_many(result.hits, 'passage')}{official}"
        if name == WEB:
            web = read(WebResult, name, given)
            status = one_line(web.status, 20).replace("_", " ")
            return f"{status}, {_many(web.results, 'page')}"
    return f"{len(answer.text)} characters"


def _many(things: Sized, name: str) -> str:
    return f"{len(things)} {name}" if len(things) == 1 else f"{len(things)} {name}s"
