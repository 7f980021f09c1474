"""Where clients read which issuer gives tokens for this server, and for what (RFC 9728)."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from harry_mcp.server.scopes import SCOPES

_PLACE = "/.well-known/oauth-protected-resource"


def metadata_address(resource: str) -> str:
    """Where the metadata of the resource at an address is: its path after the well-known one."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{_path(resource)}"


def metadata_routes(resource: str, issuer: str) -> list[Route]:
    """The document, also at the root, where older clients look. The issuer stands in it letter for letter."""
    document = {
        "resource": resource,
        "authorization_servers": [issuer],
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
        "resource_name": "harry: a knowledge base with scores",
    }

    async def show(_: Request) -> Response:
        return JSONResponse(document, headers={"Cache-Control": "public, max-age=3600"})

    return [Route(path, show) for path in dict.fromkeys((_path(resource), _PLACE))]


def _path(resource: str) -> str:
    return _PLACE + urlsplit(resource).path.rstrip("/")
