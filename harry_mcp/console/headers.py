"""The headers of every answer of the console."""

from __future__ import annotations

from starlette.responses import HTMLResponse, JSONResponse, Response

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def page(html: str, nonce: str, status: int = 200) -> Response:
    """A page whose scripts and styles carry the nonce; nothing else runs in it, and it loads nothing from elsewhere."""
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
        "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    )
    return HTMLResponse(html, status_code=status, headers={**_ALWAYS, "Content-Security-Policy": policy})


def data(body: dict[str, object], status: int = 200) -> Response:
    """A JSON object for the page's script."""
    return hardened(JSONResponse(body, status_code=status))


def hardened(response: Response) -> Response:
    """The same answer with the headers; it is none that shows anything."""
    response.headers.update({**_ALWAYS, "Content-Security-Policy": _NOTHING})
    return response
