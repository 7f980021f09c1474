"""Tags that documentation tools add within Markdown: shortcodes, Liquid, attribute lists, icons; their words stay."""

from __future__ import annotations

import re

_SPAN = r"(?P<code>(?<!`)(?P<ticks>`{1,3})(?!`)(?:[^`\n]|\n(?!\n)){1,500}?(?<!`)(?P=ticks)(?!`))"
_VALUE = r"(?:\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'|[^\"'{}]){0,600}?"
_COMMENT = re.compile(rf"{_SPAN}|\{{%-?\s*comment\s*-?%\}}.*?\{{%-?\s*endcomment\s*-?%\}}|\{{/\*.*?\*/\}}", re.DOTALL)
_SHORTCODE = re.compile(
    rf"{_SPAN}|\{{\{{[<%]-?\s*(?P<hugo_end>/?)\s*(?P<hugo>[\w./-]+)(?P<hugo_rest>{_VALUE})/?[>%]\}}\}}"
    rf"|\{{%-?\s*(?P<liquid_end>/?)\s*(?P<liquid>[\w-]+)(?P<liquid_rest>(?:[^%]|%(?!\}})){{0,1500}}?)/?-?%\}}"
)
_OUTPUT = re.compile(
    rf"{_SPAN}|\{{\{{-?\s*(?:site|page|include|layout|config|\$\w+|\.Site|\.Page|\.Params)[.\[|\s][^{{}}\n]{{0,200}}\}}\}}"
)
# {: .note }, {#anchor}, { .md-button target=_blank }, {:target="_blank"}, {: width="3" }
_ATTRIBUTES = re.compile(
    rf"{_SPAN}|[ \t]*\{{:?[ \t]*(?:[.#][\w:-]+|:?(?:target|class|style|rel|width|height|align|loading|data-[\w-]+)=)"
    r"[^{}\n]{0,200}\}(?=\s|[.,;:!?)]|\Z)"
)
_EMPTY_JSX = re.compile(rf"{_SPAN}|\{{[ \t]*(?:\"[ \t]*\"|'[ \t]*'|`[ \t]*`)[ \t]*\}}")
_ICON = re.compile(rf"{_SPAN}|:(?:material|octicons|fontawesome|simple|lucide)-[\w-]+:[ \t]?")
_ALERT = re.compile(r"^([ \t]*(?:>[ \t]?)+)\[!(\w+)\][+-]?[ \t]*(.*)$", re.MULTILINE)
_LINES = re.compile(
    r"^[ \t]*(?:\[TOC\]|\[\[toc\]\]|\[\[_TOC_\]\]|-{2,}8<-{2,}.*|;-{2,}8<-{2,}.*|\{:[ \t]*toc[ \t]*\})[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_TITLES = ("title", "label", "header", "heading", "name", "summary", "caption", "tabname", "tab", "description", "alt")
_NAMED = re.compile(r"(?<![\w-])([A-Za-z][\w-]*)[ \t]*=[ \t]*\{?[ \t]*(?:\"([^\"]*)\"|'([^']*)'|`([^`{}]*)`)")
_POSITIONAL = re.compile(r"\"([^\"]*)\"|'([^']*)'|(?<![=\w.])([\w.+/-]+)(?![\w.]*=)")
_VERSIONS = re.compile(r"new-?in|added-?in|deprecated-?in|changed-?in|removed-?in|since|version-?added", re.IGNORECASE)
_SAID = re.compile(r"(?:glossary-?)?term|glossary(?:_tooltip)?|badge|kbd|button|menu|guilabel|abbr", re.IGNORECASE)


def plain_tags(prose: str) -> str:
    """A run of Markdown that is not code, without such tags; what stands between an opening and a closing one stays."""
    if "{" in prose:
        prose = _COMMENT.sub(_kept, prose)
        prose = _SHORTCODE.sub(_shortcode, prose)
        for pattern in (_OUTPUT, _ATTRIBUTES):
            prose = pattern.sub(_kept, prose)
        prose = _EMPTY_JSX.sub(lambda match: match["code"] or " ", prose)
    if "[!" in prose:
        prose = _ALERT.sub(_alert, prose)
    return _LINES.sub("", _ICON.sub(_kept, prose))


def attributes_as_words(attributes: str) -> str:
    """``title="Fast" description="No wait"`` as ``**Fast** No wait``; "" when none of them is for people to read."""
    named = {key.lower(): " ".join((a or b or c).split()) for key, a, b, c in _NAMED.findall(attributes)}
    words = [named[key] for key in _TITLES if re.search(r"\w", named.get(key, ""))]
    return " ".join([f"**{words[0]}**", *words[1:]]) if words else ""


def _kept(match: re.Match[str]) -> str:
    return match["code"] or ""


def _shortcode(match: re.Match[str]) -> str:
    if match["code"]:
        return match["code"]
    if match["hugo_end"] or match["liquid_end"]:
        return ""
    name = match["hugo"] or match["liquid"]
    rest = match["hugo_rest"] or match["liquid_rest"] or ""
    positional = [next(part for part in parts if part) for parts in _POSITIONAL.findall(rest) if any(parts)]
    if _VERSIONS.fullmatch(name) and positional:
        return f"{re.sub(r'[-_]', ' ', name).capitalize()} {positional[0]}"
    if _SAID.fullmatch(name):
        said = [a or b or c for key, a, b, c in _NAMED.findall(rest) if key.lower() in ("text", "term", "label")]
        return " ".join(said[:1] or positional)
    return (
        ""
        if name in ("include", "assign", "if", "for", "link", "ref", "relref", "figure")
        else attributes_as_words(rest)
    )


def _alert(match: re.Match[str]) -> str:
    quote, kind, title = match.groups()
    return f"{quote}**{title.strip() or kind.capitalize()}**\n{quote.rstrip()}"
