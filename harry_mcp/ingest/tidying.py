"""Markdown as people write it, without what is not text: comments, badges, HTML tags, link definitions.

Code is left as it is: every rule here works between code blocks, and around code spans.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from harry_mcp.ingest.bare_headings import named_headings
from harry_mcp.ingest.docs_blocks import TAG, component_words, plain_blocks
from harry_mcp.ingest.docs_tags import plain_tags
from harry_mcp.ingest.html_writer import fragment_markdown
from harry_mcp.ingest.inline import image_words

# A code span, which every pattern below takes whole first so that nothing inside one matches
_SPAN = r"(?P<code>(?<!`)(?P<ticks>`{1,3})(?!`)(?:[^`\n]|\n(?!\n)){1,500}?(?<!`)(?P=ticks)(?!`))"
_IN_BRACKETS = r"(?:[^\[\]]|\[[^\[\]]{0,200}\])"  # one level deep, as in "[see [1]]"
_TARGET = r"(?:\([^()\n]*\)|\[[^\]\n]*\])"
_COMMENT = re.compile(rf"{_SPAN}|<!--.*?-->", re.DOTALL)
_IMAGE_SOURCE = (
    rf"!\[(?P<alt>{_IN_BRACKETS}{{0,500}})\]"
    r"(?:\((?P<address>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)[^()\n]*\)|\[[^\]\n]*\])"
)
_LINKED_IMAGE = re.compile(rf"{_SPAN}|\[\s*{_IMAGE_SOURCE}\s*\]{_TARGET}")
_IMAGE = re.compile(rf"{_SPAN}|{_IMAGE_SOURCE}")
_REFERENCE = re.compile(rf"{_SPAN}|(?<![\\!])\[(?P<text>{_IN_BRACKETS}{{1,500}})\] ?\[(?P<label>[^\[\]\n]*)\](?!\()")
_SHORTCUT = re.compile(rf"{_SPAN}|(?<![\\!\]])\[(?P<text>[^\[\]]{{1,500}})\](?![\[(:])")
_DEFINITION = re.compile(
    r"^ {0,3}\[(?!\^)([^\[\]\n]+)\]:[ \t]*\S+(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$", re.MULTILINE
)
_TAG_WORDS = (
    "a abbr address article aside b big blockquote body br button caption center cite code col colgroup dd del "
    "details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i iframe img ins kbd li "
    "link main mark meta nav ol p picture pre q s samp script section small source span strike strong style sub "
    "summary sup svg table tbody td tfoot th thead tr tt u ul var video"
)
_TAGS = _TAG_WORDS.replace(" ", "|")
_HTML_START = re.compile(rf" {{0,3}}</?(?:{_TAGS})(?=[\s/>]|\Z)", re.IGNORECASE)
_COMPONENT_START = re.compile(r" {0,3}</?[A-Z][\w.]*(?=[\s/>]|\Z)")
_INLINE_TAG = re.compile(rf"{_SPAN}|(?P<break><br\s*/?>)|</?(?:{_TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_INLINE_COMPONENT = re.compile(rf"{_SPAN}|{TAG}")
_LINK = re.compile(
    rf"{_SPAN}|(?<![\\!])\[(?P<text>{_IN_BRACKETS}{{1,500}})\]"
    r"\([ \t]*(?:<(?P<angled>[^<>\n]{0,500})>|(?P<target>[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*))"
    r"(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*\)"
)
_ABSOLUTE = re.compile(r"[A-Za-z][\w+.-]*:|//")
_BLANKS = re.compile(r"\n(?:[ \t]*\n){2,}")
_BLANK_START = re.compile(r"\A(?:[ \t]*\n)+")
_BLANK_END = re.compile(r"\n\s*\Z")


def tidy_markdown(text: str, *, mdx: bool = False, link: Callable[[str], str] | None = None) -> str:
    """The text without comments, badges, tags and link definitions; what they said in words stays.

    ``link`` gives the address that a relative link leads to; where it gives "", and without it, the words stay alone.
    """
    text = plain_blocks(text, mdx=mdx)
    labels = _labels(text)
    if "<!--" in text:
        text = _between_code(text, _without_comments)
    components = _components(text)
    text = _between_code(text, lambda prose: _tidied(prose, labels, components, link), _html_as_markdown)
    return text.strip("\n")


def _tidied(prose: str, labels: frozenset[str], components: frozenset[str], link: Callable[[str], str] | None) -> str:
    prose = plain_tags(named_headings(prose))
    if components:
        prose = _INLINE_COMPONENT.sub(lambda match: _component(match, components), prose)
    prose = _DEFINITION.sub(lambda match: "" if _label(match.group(1)) in labels else match.group(), prose)
    prose = _IMAGE.sub(_alt, _LINKED_IMAGE.sub(_alt, prose))
    prose = _REFERENCE.sub(lambda match: _resolved(match, labels), prose)
    prose = _SHORTCUT.sub(lambda match: _resolved(match, labels), prose)
    prose = _LINK.sub(lambda match: _linked(match, link), prose)
    prose = _INLINE_TAG.sub(lambda match: match.group("code") or (" " if match.group("break") else ""), prose)
    prose = _BLANK_END.sub("\n", _BLANK_START.sub("\n", prose))  # the blank line beside a block of code is one
    return _BLANKS.sub("\n\n", prose)


def _without_comments(prose: str) -> str:
    # Little further than the last end: beyond it each opening would search the rest of the text in vain.
    end = prose.rfind("-->")
    reach = end + 500 if end >= 0 else 0  # for the code span that this end may be in
    return _COMMENT.sub(_kept_code, prose[:reach]) + prose[reach:]


def _kept_code(match: re.Match[str]) -> str:
    return match.group("code") or ""


def _components(text: str) -> frozenset[str]:
    """The names in capitals that are closed somewhere: ``<Tabs>`` is a component then, and ``List<String>`` is not."""
    return frozenset(match["name"] for match in re.finditer(TAG, text) if match["closing"] or match["closed"])


def _component(match: re.Match[str], components: frozenset[str]) -> str:
    if match["code"] or match["name"] not in components:
        return match.group()
    words = component_words(match)
    return f"{words} " if words else ""


def _linked(match: re.Match[str], link: Callable[[str], str] | None) -> str:
    target = match["angled"] or match["target"] or ""
    if match["code"] or _ABSOLUTE.match(target):
        return match.group()
    try:
        address = link(target) if link and target and not target.startswith("#") else ""
    except ValueError:  # what stands there is no address at all
        address = ""
    return f"[{match['text']}]({address})" if address else match["text"]


def _alt(match: re.Match[str]) -> str:
    if match.group("code"):
        return match.group("code")
    return image_words(match.group("alt"), match.group("address") or "")


def _resolved(match: re.Match[str], labels: frozenset[str]) -> str:
    if match.group("code"):
        return match.group("code")
    text = match.group("text")
    label = match.groupdict().get("label") or text
    return text if _label(label) in labels else match.group()


def _label(label: str) -> str:
    return " ".join(label.split()).casefold()


def _labels(text: str) -> frozenset[str]:
    return frozenset(_label(match.group(1)) for match in _DEFINITION.finditer(text))


def _html_as_markdown(block: str) -> str:
    """A block of HTML by the writer that reads pages; a tag that is no HTML (``<host>``) is text and stays."""
    if _HTML_START.match(block) or _COMPONENT_START.match(block):
        return fragment_markdown(block)
    return block


def _between_code(text: str, prose: Callable[[str], str], html: Callable[[str], str] | None = None) -> str:
    """Apply ``prose`` to the runs of lines that are not code (and ``html`` to blocks of HTML among them)."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["block"])  # the lines of blocks are enough; \r and NUL are gone already
    lines = text.split("\n")
    out = _Joined()
    done = 0
    for token in parser.parse(text):
        if token.map is None or token.map[0] < done or token.type not in ("fence", "code_block", "html_block"):
            continue
        if token.type == "html_block" and (html is None or token.level):
            continue
        start, end = token.map
        block = "\n".join(lines[start:end]).rstrip("\n")
        if start > done:
            out.add(prose("\n".join(lines[done:start])))
        out.add(html(block) if token.type == "html_block" and html else block, apart=token.type == "html_block")
        done = end
    out.add(prose("\n".join(lines[done:])))
    return out.text()


class _Joined:
    """Pieces of a text put together again; one that stands ``apart`` gets one blank line on each side."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._apart = False

    def add(self, piece: str, *, apart: bool = False) -> None:
        if apart or self._apart:
            self._apart = apart or not piece.strip("\n")
            piece = piece.strip("\n") if apart else piece.lstrip("\n")
            while self._pieces and not self._pieces[-1].strip():
                self._pieces.pop()
            if self._pieces and piece:
                self._pieces[-1] = self._pieces[-1].rstrip("\n") + "\n"
        if piece or not apart:
            self._pieces.append(piece)

    def text(self) -> str:
        return "\n".join(self._pieces)
