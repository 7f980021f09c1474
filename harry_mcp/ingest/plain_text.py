"""Plain text as Markdown that shows the same: what only happens to look like Markdown is marked as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

_HASH = re.compile(r"^( {0,3})(#{1,6}(?=[ \t]|$))")
_CODE_WORDS = (
    "bash bat c cc cfg clj cmake conf cpp cs css csv dart dockerfile env erl ex fish go gradle graphql h hpp hs ini "
    "java jl js json json5 jsonc jsx kt kts less lua m makefile mk mm nix pl pm properties proto ps1 py pyi r rb rs "
    "sass scala scss sh sql swift tcl tf toml ts tsx vb vim vue xml yaml yml zig zsh"
)
_CODE = frozenset(_CODE_WORDS.split())


def plain_text_markdown(text: str, *, name: str = "") -> str:
    """``text`` so that it is neither cut nor shown as something else.

    A ``#`` line is a heading only where blank lines stand around it: a comment stands above what it is about. A file
    of code (by ``name``) is one fenced block, which is cut as code is.
    """
    suffix = PurePosixPath(name.lower()).suffix.removeprefix(".") or name.lower()
    if suffix in _CODE and text.strip():
        longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
        fence = "`" * (longest + 1)
        return f"{fence}{suffix}\n{text.strip(chr(10))}\n{fence}"
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: list[str]) -> Iterator[str]:
    around = ["", *lines, ""]
    fenced = False
    for place, line in enumerate(lines):
        fenced ^= line.lstrip(" ").startswith(("```", "~~~"))
        alone = not (around[place].strip() or around[place + 2].strip())
        yield line if fenced or alone else _HASH.sub(r"\1\\\2", line, count=1)
