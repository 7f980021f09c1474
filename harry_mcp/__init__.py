"""harry_mcp: a self-correcting knowledge base that any MCP agent can plug in.

The parts to build on are imported when they are first asked for, so that ``import harry_mcp`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harry_mcp.app import App
    from harry_mcp.errors import HarryError
    from harry_mcp.profile import DomainProfile, load_profile
    from harry_mcp.server.server import build_server
    from harry_mcp.settings import Settings, load_settings

__version__ = "0.1.0"
__all__ = [
    "App",
    "DomainProfile",
    "HarryError",
    "Settings",
    "__version__",
    "build_server",
    "load_profile",
    "load_settings",
]
_HOMES = {
    "App": "harry_mcp.app",
    "DomainProfile": "harry_mcp.profile",
    "HarryError": "harry_mcp.errors",
    "Settings": "harry_mcp.settings",
    "build_server": "harry_mcp.server.server",
    "load_profile": "harry_mcp.profile",
    "load_settings": "harry_mcp.settings",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
