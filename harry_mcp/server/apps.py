"""MCP Apps: pages of ours that a host shows beside the conversation, in a frame of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.apps import APP_MIME_TYPE, Apps, ResourceCsp
from mcp.server.mcpserver.resources import FunctionResource

CONSOLE = "ui://harry/console.html"
# Hosts of 2025 read the flat key; the nested one is what the extension says now.
BOUND: dict[str, Any] = {"ui": {"resourceUri": CONSOLE}, "ui/resourceUri": CONSOLE}


def console_app(page: Callable[[], str]) -> Apps:
    """The extension with the console's page, which is made when a host reads it."""
    apps = Apps()
    # It brings all that it needs: nothing may be loaded into it or sent from it to anywhere.
    policy = ResourceCsp(connect_domains=[], resource_domains=[], frame_domains=[], base_uri_domains=[])
    apps.add_resource(
        FunctionResource(
            uri=CONSOLE,
            name="curation_console",
            title="Curation console",
            description="The page that curation_console opens: the review queue, with what can be done about it.",
            mime_type=APP_MIME_TYPE,
            fn=page,
            meta={"ui": {"csp": policy.model_dump(by_alias=True, exclude_none=True), "prefersBorder": False}},
        )
    )
    return apps
