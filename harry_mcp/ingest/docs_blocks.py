"""Blocks that documentation tools add to Markdown, as plain Markdown: admonitions, tabs, containers, components.

MkDocs indents what is inside of them, MDX often does. Left as it is, Markdown reads that as code; so it is brought
back to the margin. Every rule works between fences: what documentation shows of its own syntax stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harry_mcp.ingest.docs_tags import attributes_as_words

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(?!.*`)|[ \t]*(~{3,})")
_ADMONITION = re.compile(
    r"(?P<indent>[ \t]*)(?:!!!|\?\?\?\+?)[ \t]+(?P<kind>[\w -]+?)(?:[ \t]+\"(?P<title>.*)\")?[ \t]*$"
)
_TAB = re.compile(r"(?P<indent>[ \t]*)===[!+]?[ \t]+\"(?P<title>.+)\"[ \t]*$")
_CONTAINER = re.compile(
    r"(?P<indent>[ \t]*):{3,}[ \t]*(?P<kind>[a-z][\w-]*)?(?:\[(?P<name>[^\]\n]*)\])?(?:\{[^{}\n]*\})?"
    r"[ \t]*(?P<title>.*)$"
)
_HIGHLIGHT = re.compile(
    r"(?P<indent>[ \t]*)(?:\{\{[<%]-?[ \t]*(?P<hugo>highlight|code-toggle|code)\b(?P<hugo_rest>[^\n]*?)[>%]\}\}"
    r"|\{%-?[ \t]*(?P<liquid>highlight)\b(?P<liquid_rest>[^\n]*?)-?%\})(?P<after>.*)$"
)
_ATTRIBUTE = (
    r"\s+(?:\{[^{}]{0,300}\}|[\w:.@-]+(?:=(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'"
    r"|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,300}\}){0,300}\}){0,500}\}|[^\s\"'<>{}]{1,300}))?)"
)
TAG = rf"<(?P<closing>/?)(?P<name>[A-Z][\w.]*)(?P<attributes>(?:{_ATTRIBUTE}){{0,30}})\s*(?P<closed>/?)>"
_TAG = re.compile(TAG)
_LONE_TAG = re.compile(rf"(?P<indent>[ \t]*){TAG}[ \t]*$")
_ESM = re.compile(
    r"import[ \t]+(?:['\"]|[^\n]*[ \t]from[ \t]+['\"]|\{[ \t]*$|type[ \t]+\{)"
    r"|export[ \t]+(?:default\b|const\b|let\b|var\b|function\b|async\b|class\b|type\b|interface\b|\{|\*)"
)
_ESM_SIGN = re.compile(r"^import[ \t][^\n]*[ \t]from[ \t]+['\"][^'\"\n]+['\"];?[ \t]*$", re.MULTILINE)
_LONGEST_ESM = 300  # lines
_LONGEST_CODE = 1_000  # lines in a shortcode
_DEEPEST = 12
_SILENT = frozenset({"code-group", "tabs", "tab-set", "steps", "cards", "card-group", "row", "col", "div", "center"})


def plain_blocks(text: str, *, mdx: bool = False) -> str:
    """The text with such blocks as bold titles and what is inside them, at the margin where it stood."""
    mdx = mdx or bool(_ESM_SIGN.search(text))
    names = frozenset(match["name"] for match in _TAG.finditer(text) if match["closing"] or match["closed"])
    if not mdx and not names and not any(sign in text for sign in ("!!!", "???", "===", ":::", "{{", "{%")):
        return text
    lines = _one_line_tags(text).split("\n") if names else text.split("\n")
    return "\n".join(_Blocks(mdx=mdx, names=names).lines(lines, 0))


def component_words(match: re.Match[str]) -> str:
    """What an opening or lone tag says: its title and what its other words are; "" for a closing one."""
    return "" if match["closing"] else attributes_as_words(match["attributes"])


class _Blocks:
    def __init__(self, *, mdx: bool, names: frozenset[str]) -> None:
        self._mdx = mdx
        self._names = names

    def lines(self, lines: Sequence[str], depth: int) -> list[str]:
        out: list[str] = []
        ends = self._ends(lines) if self._names else {}
        place = 0
        while place < len(lines):
            place = self._take(lines, place, depth, ends, out)
        return out

    def _take(self, lines: Sequence[str], place: int, depth: int, ends: dict[int, int], out: list[str]) -> int:
        """Write the block that starts at ``place``; where the next one starts."""
        line = lines[place]
        if match := _FENCE.match(line):
            end = _fence_end(lines, place, (match[1] or match[2]))
            out += lines[place:end]
            return end
        if self._mdx and _ESM.match(line):
            return _after_esm(lines, place)
        if depth < _DEEPEST and (match := _ADMONITION.match(line) or _TAB.match(line)):
            return self._indented(lines, place, match, depth, out)
        if match := _CONTAINER.match(line):
            title = (match["name"] or "", match["title"] or "")
            _headed(out, match["indent"], next((each for each in title if each), ""), match["kind"] or "")
            return place + 1
        if match := _HIGHLIGHT.match(line):
            return _highlighted(lines, place, match, out)
        if depth < _DEEPEST and (match := _LONE_TAG.match(line)) and match["name"] in self._names:
            return self._component(lines, place, match, depth, ends, out)
        out.append(line)
        return place + 1

    def _indented(self, lines: Sequence[str], place: int, match: re.Match[str], depth: int, out: list[str]) -> int:
        """A block of MkDocs: what is indented by four under its first line."""
        indent = match["indent"]
        end = place + 1
        while end < len(lines) and (not lines[end].strip() or _width(lines[end]) >= _width(indent + "x") + 4):
            end += 1
        while end > place + 1 and not lines[end - 1].strip():
            end -= 1
        body = _dedented(lines[place + 1 : end])
        if not body:
            out.append(lines[place])
            return place + 1
        title = match["title"]
        _headed(out, indent, title or "", "" if title is not None else match["kind"].split()[0])
        out += [f"{indent}{line}" if line else "" for line in self.lines(body, depth + 1)]
        out.append("")
        return end

    def _component(
        self,
        lines: Sequence[str],
        place: int,
        match: re.Match[str],
        depth: int,
        ends: dict[int, int],
        out: list[str],
    ) -> int:
        """A component on lines of its own: its words, and what stands between its tags."""
        _headed(out, match["indent"], component_words(match), "")
        end = ends.get(place)
        if end is None:
            return place + 1
        body = self.lines(_dedented(lines[place + 1 : end]), depth + 1)
        out += [f"{match['indent']}{line}" if line else "" for line in body]
        out.append("")
        return end + 1

    def _ends(self, lines: Sequence[str]) -> dict[int, int]:
        """The line of the closing tag for each line that is an opening one."""
        ends: dict[int, int] = {}
        unclosed: dict[str, list[int]] = {}
        for place, line in enumerate(lines):
            match = _LONE_TAG.match(line) if "<" in line else None
            if match is None or match["closed"]:
                continue
            if not match["closing"]:
                unclosed.setdefault(match["name"], []).append(place)
            elif starts := unclosed.get(match["name"]):
                ends[starts.pop()] = place
        return ends


def _headed(out: list[str], indent: str, title: str, kind: str) -> None:
    """The title of a block in bold, its kind where it has none, in a paragraph of its own."""
    words = title.strip() or ("" if kind in _SILENT else kind.replace("-", " ").capitalize())
    if out and out[-1].strip():
        out.append("")
    if words:
        out += [f"{indent}{words if words.startswith('**') else f'**{words}**'}", ""]


def _fence_end(lines: Sequence[str], place: int, fence: str) -> int:
    close = re.compile(rf"[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
    for end in range(place + 1, len(lines)):
        if close.match(lines[end]):
            return end + 1
    return len(lines)


def _after_esm(lines: Sequence[str], place: int) -> int:
    """Code at the top level of MDX goes to the next blank line, or further while a bracket is open."""
    depth = 0
    for end in range(place, min(len(lines), place + _LONGEST_ESM)):
        if not lines[end].strip() and depth <= 0:
            return end
        depth += sum(lines[end].count(sign) for sign in "{[(") - sum(lines[end].count(sign) for sign in "}])")
        following = lines[end + 1] if end + 1 < len(lines) else ""
        if depth <= 0 and not following.startswith((" ", "\t")) and not _ESM.match(following):
            return end + 1
    return place + 1


def _highlighted(lines: Sequence[str], place: int, match: re.Match[str], out: list[str]) -> int:
    """A shortcode around code as a fence."""
    name = match["hugo"] or match["liquid"]
    close = re.compile(rf"(.*?)(?:\{{\{{[<%]-?[ \t]*/[ \t]*{name}[ \t]*[>%]\}}\}}|\{{%-?[ \t]*end{name}[ \t]*-?%\}})")
    inside = [match["after"], *lines[place + 1 : place + _LONGEST_CODE]]
    for number, line in enumerate(inside):
        if ended := close.match(line):
            code = [*inside[:number], ended[1]]
            while code and not code[0].strip():
                code.pop(0)
            while code and not code[-1].strip():
                code.pop()
            rest = (match["hugo_rest"] or match["liquid_rest"] or "").split()
            language = rest[0] if rest and re.fullmatch(r"[\w+#.-]{1,30}", rest[0]) else ""
            if code and not _FENCE.match(code[0]):
                code = [f"{match['indent']}```{language}", *code, f"{match['indent']}```"]
            out += ["", *code, ""]
            return place + number + 1
    out.append(lines[place])
    return place + 1


def _one_line_tags(text: str) -> str:
    """Each component's tag on one line, as the rules here look at lines."""
    return _TAG.sub(lambda match: re.sub(r"\s*\n\s*", " ", match[0]), text)


def _dedented(lines: Sequence[str]) -> list[str]:
    """The lines without the indentation that all of them have."""
    least = min((_width(line) for line in lines if line.strip()), default=0)
    expanded = [line.expandtabs(4) if line[:1] in (" ", "\t") else line for line in lines]
    body = [line[least:] if line.strip() else "" for line in expanded]
    while body and not body[0]:
        body.pop(0)
    return body


def _width(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))
