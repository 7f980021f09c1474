"""What each caller sees: what takes another role is neither listed nor to be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from harry_mcp.domain.people import Principal, Role
from harry_mcp.server.state import ServerState, caller_in

# Where each list of things stands in its reply, and what names one of them.
_LISTS = {
    "tools/list": ("tools", "name"),
    "resources/list": ("resources", "uri"),
    "prompts/list": ("prompts", "name"),
}


@dataclass(frozen=True, slots=True)
class Allowed:
    """The roles that tools and prompts (by name) and resources (by address) take. The rest is for everybody."""

    tools: Mapping[str, Role] = field(default_factory=dict[str, Role])
    resources: Mapping[str, Role] = field(default_factory=dict[str, Role])
    prompts: Mapping[str, Role] = field(default_factory=dict[str, Role])

    def may_call(self, caller: Principal, tool: str) -> bool:
        return caller.may(self.tools.get(tool, Role.READER))

    async def __call__(self, ctx: ServerRequestContext[ServerState], call_next: CallNext) -> HandlerResult:
        """The server's middleware. A call of a tool is refused where tools are called, in the words of that place."""
        caller = caller_in(ctx)
        params = ctx.params or {}
        if ctx.method == "resources/read" and not self._may(caller, "resources", params.get("uri")):
            uri = str(params["uri"])
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown resource: {uri}", data={"uri": uri})
        if ctx.method == "prompts/get" and not self._may(caller, "prompts", params.get("name")):
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {params['name']}")
        result = await call_next(ctx)
        if ctx.method not in _LISTS or not isinstance(result, Mapping):
            return result
        listed, key = _LISTS[ctx.method]
        items = cast(list[dict[str, Any]], result.get(listed, []))
        return {**result, listed: [item for item in items if self._may(caller, listed, item[key])]}

    def _may(self, caller: Principal, kind: str, name: object) -> bool:
        roles: Mapping[str, Role] = getattr(self, kind)
        return caller.may(roles.get(str(name), Role.READER))
