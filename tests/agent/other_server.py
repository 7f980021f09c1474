"""Another MCP server that speaks the same contract, in as few fields as it can: run by tests, over stdio or HTTP.

What it is asked decides how it behaves. ``PORT TOKEN`` as arguments serve HTTP to those who bring the token.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("other", log_level="ERROR")
HIT = {
    "score": 0.8,
    "band": "strong",
    "title": "Zeppelins",
    "url": "https://zeppelin.example/start",
    "text": "Pull the lever to start the zeppelin.",
    "document_id": "z1",
    "unheard": "of",
}


def _verdict(action: str) -> dict[str, Any]:
    return {"score": 0.8, "band": "strong", "next_action": action}


@server.tool()
async def search_kb(query: str, k: int = 5, history: list[str] = []) -> dict[str, Any]:  # noqa: B006
    """Searches."""
    match query:
        case "die":
            os._exit(1)
        case "fail":
            raise ToolError("The database is away.\x1b[31m")
        case "hang":
            await asyncio.Event().wait()
        case "nonsense":
            return {"answer": 42}
        case "praise":
            return {"verdict": _verdict("answer"), "hits": []}
        case "dance":
            return {"verdict": _verdict("dance"), "hits": [HIT]}
        case "official":
            verified = {
                "match": "exact",
                "answer": "Pull it.\x1b[2J",
                "sources": [{"url": "https://zeppelin.example/"}],
            }
            return {"verdict": _verdict("answer"), "verified": verified}
        case "nameless":
            return {"verdict": _verdict("answer"), "hits": [{"text": "A passage of nowhere.", "score": 0.9}]}
        case _:
            pass
    return {"verdict": _verdict("answer"), "hits": [HIT, HIT | {"title": "The same"}], "search_id": "s1"}


@server.tool()
async def read_document(document_id: str) -> dict[str, Any]:
    """Reads, or dies, or says nothing."""
    if document_id == "die":
        os._exit(1)
    return {}


def _http(port: int, token: str) -> None:
    import uvicorn

    app = server.streamable_http_app(stateless_http=True)

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"").decode()
            if sent != f"Bearer {token}":
                headers = [(b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await app(scope, receive, send)

    uvicorn.run(guarded, host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _http(int(sys.argv[1]), sys.argv[2])
    else:
        server.run()
