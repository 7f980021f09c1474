"""The curation console: one HTML page that holds its styles and scripts, for ``/admin`` and for hosts of MCP Apps.

The files beside this one are put together as they are: no framework, no build step, nothing from elsewhere.
"""

from __future__ import annotations

import html
from functools import cache
from importlib.resources import files
from typing import Literal

_STYLES = ("tokens.css", "controls.css", "frame.css", "queue.css", "dossier.css", "records.css", "digest.css")
# In the order in which they need one another; main.js starts it all.
_SCRIPTS = (
    *("words.js", "dom.js", "difference.js", "toast.js", "dialog.js"),
    *("admin.js", "host.js", "paging.js", "selection.js", "act.js", "rewrite.js"),
    *("row.js", "dossier.js", "queue.js", "recent.js", "listing.js", "gaps.js", "corrections.js", "verified.js"),
    *("charts.js", "digest.js", "rot.js", "tabs.js", "keys.js", "main.js"),
)


def console_page(*, mode: Literal["admin", "app"], nonce: str = "", csrf: str = "") -> str:
    """The whole page.

    In mode ``admin`` it calls tools by ``POST /admin/call`` and sends ``csrf`` along; style and script carry ``nonce``
    for the Content-Security-Policy. In mode ``app`` it speaks to the window that holds it, by the wire of MCP Apps.
    """
    mark = f' nonce="{html.escape(nonce)}"' if nonce else ""
    shell, style, script = _parts()
    page = shell.replace("{{mode}}", mode).replace("{{csrf}}", html.escape(csrf)).replace("{{nonce}}", mark)
    return page.replace("{{style}}", style).replace("{{script}}", script)


@cache
def _parts() -> tuple[str, str, str]:
    folder = files(__name__)

    def joined(names: tuple[str, ...]) -> str:
        return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)

    return joined(("shell.html",)), joined(_STYLES), joined(_SCRIPTS)
