"""The form that asks for the token."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in - harry</title>
<link rel="icon" href="data:,">
<style nonce="{nonce}">
:root {{ color-scheme: light dark; }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.5 system-ui, sans-serif; }}
form {{ width: min(22rem, calc(100vw - 3rem)); display: grid; gap: .75rem; }}
h1 {{ font-size: 1.25rem; margin: 0; }}
p {{ margin: 0; }}
input, button {{ font: inherit; padding: .5rem .75rem; border-radius: .4rem; border: 1px solid GrayText; }}
button {{ cursor: pointer; background: #1d4ed8; border-color: #1d4ed8; color: #fff; }}
[role=alert] {{ border-left: 3px solid #dc2626; padding-left: .75rem; }}
</style>
</head>
<body>
<main>
<form method="post" action="/admin/login" id="login">
<h1>Sign in to the curation console</h1>
{fault}
<input name="username" value="harry" autocomplete="username" hidden>
<label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password" spellcheck="false">
<button>Sign in</button>
<p><small>It takes {taken}.</small></p>
</form>
</main>
<script nonce="{nonce}">
"use strict";
// The link that the server prints carries the token behind "#", which browsers send to nobody.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {{
  history.replaceState(null, "", "/admin");
  document.getElementById("token").value = given;
  document.getElementById("login").submit();
}}
</script>
</body>
</html>
"""


_OWN = {
    "set": "the server's own token (HARRY_HTTP__TOKEN)",
    "made": "the token that <code>harry serve --http</code> printed when it started",
    "either": "the server's own token (HARRY_HTTP__TOKEN, or the one that <code>harry serve --http</code> printed when "
    "it started)",
}
_NAMED = "one that <code>harry token new NAME</code> made with <code>--role curator</code> or <code>--role admin</code>"
_ISSUED = "one of your identity provider with the scope harry:curate or harry:admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Which tokens open the console.

    ``own``: the server's own is there, from the settings or made for this start; "either" where that is not known.
    ``named``: those of which the settings hold the digest. ``issuer``: those of an identity provider.
    """

    own: Literal["", "set", "made", "either"]
    named: bool
    issuer: bool

    @property
    def said(self) -> str:
        """For the page, as HTML, behind "It takes"."""
        ways = [_OWN[self.own]] if self.own else []
        ways += [_NAMED] if self.named else []
        ways += [_ISSUED] if self.issuer else []
        *first, last = ways or ["no token"]
        return f"{', '.join(first)}{',' if len(first) > 1 else ''} or {last}" if first else last


def login_page(nonce: str, fault: str = "", *, taken: Taken) -> str:
    """The page, with what was wrong the last time."""
    told = f'<p role="alert">{escape(fault)}</p>' if fault else ""
    return _PAGE.format(nonce=nonce, fault=told, taken=taken.said)
