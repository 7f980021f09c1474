"""A small host of MCP Apps: a page that shows the console in a frame, speaks the wire, and forwards calls over MCP."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from mcp.client import Client, advertise
from mcp.client.streamable_http import streamable_http_client
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from playwright.sync_api import FrameLocator, Page, Route

from tests.console.driving import Watched, apart
from tests.console.served import TOKEN

ORIGIN = "http://host.test"
CONSOLE = "ui://harry/console.html"
# As the extension wants it: a sandbox without the host's origin, and a policy that lets nothing in or out.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
_HOST = """<!doctype html><title>host</title><style>iframe { border: 0; width: 100%; }</style>
<iframe id="app" sandbox="allow-scripts" src="http://app.test/"></iframe>
<iframe id="other" sandbox="allow-scripts" src="http://other.test/"></iframe>
<script>
const app = document.getElementById("app");
window.seen = { methods: [], sizes: [], links: [], answers: [] };
window.context = {
  theme: "light", displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"],
  containerDimensions: { width: 900, maxHeight: 700 },
  styles: { variables: { "--color-background-primary": "light-dark(rgb(255, 255, 250), rgb(10, 20, 30))" } },
};
window.send = (message) => app.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
window.addEventListener("message", async (event) => {
  if (event.source !== app.contentWindow) return;
  const { id, method, params, result, error } = event.data;
  if (!method) return seen.answers.push({ id, result, error });
  seen.methods.push(method);
  const answer = (value) => send({ id, result: value });
  if (method === "ui/initialize") {
    window.started = params;
    answer({ protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" },
      hostCapabilities: { serverTools: {}, openLinks: {} }, hostContext: context });
  } else if (method === "tools/call") answer(await callTool(params));
  else if (method === "ui/notifications/size-changed") {
    seen.sizes.push(params);
    app.style.height = params.height + "px";
  }
  else if (method === "ui/open-link") { seen.links.push(params.url); answer({}); }
  else if (method === "ui/request-display-mode") answer({ mode: params.mode });
});
</script>"""
_OTHER = """<!doctype html><script>
// Another app beside it, which speaks to it as if it were the host.
setInterval(() => parent.frames[0].postMessage(
  { jsonrpc: "2.0", method: "ui/notifications/host-context-changed", params: { theme: "dark" } }, "*"), 20);
</script>"""


class Hosted:
    """The console inside the host."""

    def __init__(self, watched: Watched, base: str) -> None:
        self.page: Page = watched.page
        self._base = base
        console = apart(_page_of(base))
        policy = {"Content-Security-Policy": _POLICY}
        self.page.route("http://app.test/", lambda route: _give(route, console, policy))
        self.page.route("http://other.test/", lambda route: _give(route, _OTHER))
        self.page.route(f"{ORIGIN}/", lambda route: _give(route, _HOST))
        self.page.expose_function("callTool", self._call)  # pyright: ignore[reportUnknownMemberType]
        self.page.goto(f"{ORIGIN}/")

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator("#app")

    def seen(self, what: str) -> Any:
        return self.page.evaluate(f"seen.{what}")

    def send(self, **message: Any) -> None:
        self.page.evaluate("(message) => send(message)", message)

    def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        return apart(_called(self._base, params["name"], params["arguments"]))


def _give(route: Route, body: str, headers: dict[str, str] | None = None) -> None:
    route.fulfill(body=body, content_type="text/html; charset=utf-8", headers=headers or {})


def _client(base: str, http: httpx2.AsyncClient) -> Client:
    shows = [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})]
    return Client(streamable_http_client(f"{base}/mcp", http_client=http), extensions=shows)


async def _page_of(base: str) -> str:
    async with _http() as http, _client(base, http) as client:
        (content,) = (await client.read_resource(CONSOLE)).contents
        return getattr(content, "text", "")


async def _called(base: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async with _http() as http, _client(base, http) as client:
        result = await client.call_tool(name, arguments)
        return json.loads(result.model_dump_json(by_alias=True, exclude_none=True))


def _http() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
