"""Code of an HTML page as Markdown: blocks with their language, and spans."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harry_mcp.ingest.html_tree import Element, walk

_LANGUAGE_CLASS = re.compile(r"(?:language|lang|highlight-source|highlight|brush)[-:]\s*([\w+#.-]+)")
_LINES = frozenset({"div", "p", "li", "tr"})  # elements that are a line of code each, on some sites
_NO_LANGUAGE = frozenset({"default", "none", "notranslate", "text", "plaintext", "plain", "txt", "literal-block"})


def code_block(element: Element) -> list[str]:
    """A ``pre`` as a fence with its language; lines, indentation and blank lines as they are on the page."""
    code = "".join(_code_text(element)).replace("\r\n", "\n").strip("\n").rstrip()
    if not code.strip():
        return []
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{_language(element)}\n{code}\n{fence}"]


def _code_text(element: Element) -> Iterator[str]:
    """The text of a ``pre``, with a line end for each ``br`` and after each element that is a line of its own."""
    ended = True
    for event, node in walk(element):
        if event == "end" and node is element:
            break
        text = (node.text if event == "start" else node.tail) or ""
        line = node.tag in _LINES and not ended
        if (line or (node.tag == "br" and event == "end")) and not text.startswith("\n"):
            text = "\n" + text
        if text:
            ended = text.endswith("\n")
            yield text


def _language(element: Element) -> str:
    places = [*element.iterdescendants("code"), element, *list(element.iterancestors())[:3]]
    for place in places:
        named = place.get("data-lang", "") or place.get("data-language", "")
        classes = place.get("class", "")
        found = [named, *_LANGUAGE_CLASS.findall(classes)]
        first, *rest = classes.split() or [""]
        if first in ("code", "sourceCode", "prettyprint") and str(place.tag) in ("pre", "code"):
            found += rest[:1]  # docutils and pandoc: "code python", "sourceCode python"
        for language in found:
            if re.fullmatch(r"[\w+#.-]{1,30}", language) and language.lower() not in _NO_LANGUAGE:
                return language.lower()
    return ""


def code_span(code: str) -> str:
    """Code in a line of text, with marks that it does not hold itself."""
    words = " ".join(code.split())
    if not words:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", words)), default=0)
    fence = "`" * (longest + 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{fence}{space}{words}{space}{fence}"
