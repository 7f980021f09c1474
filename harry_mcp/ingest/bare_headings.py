"""Headings that are nothing but tags. Without them a document would lose its name, so they are named in words."""

from __future__ import annotations

import re

from harry_mcp.ingest.inline import image_words

_ANY = r"</?[A-Za-z][^<>\n]*>"
# No two parts that follow one another take the same character, so a long line is read once.
_BARE = re.compile(
    rf"^(?P<mark> {{0,3}}#{{1,6}})[ \t]+(?P<tags>{_ANY}(?:[ \t]*{_ANY})*)[ \t]*(?:#+[ \t]*)?$", re.MULTILINE
)
_TAG = re.compile(r"</?(?P<name>[A-Za-z][\w.-]*)(?P<rest>[^<>]*)>")
_GIVEN = re.compile(
    r"\b(?P<name>alt|src)\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<plain>[^\s\"'>]+))", re.IGNORECASE
)
# Tags that set something out and name nothing.
_LAYOUT = frozenset(
    {"a", "b", "br", "center", "div", "em", "font", "hr", "i", "p", "picture", "source", "span", "strong", "sub", "sup"}
)


def named_headings(prose: str) -> str:
    """The text with such headings as the words of their images, or as they were written, in code marks: a heading
    ``<details>`` is about that tag. One that only shows a picture or sets an anchor says nothing and stays."""
    return _BARE.sub(_named, prose) if "<" in prose else prose


def _named(match: re.Match[str]) -> str:
    tags = match["tags"].strip()
    words: list[str] = []
    telling = False
    for tag in _TAG.finditer(tags):
        name = tag["name"].lower()
        if name == "img":
            given = {each["name"].lower(): _value(each) for each in _GIVEN.finditer(tag["rest"])}
            words.append(image_words(given.get("alt", ""), given.get("src", "")))
            telling |= not re.search(r"[./]", given.get("src", ""))  # what shows no file is no picture
        else:
            telling |= name not in _LAYOUT
    said = " ".join(filter(None, words))
    if said:
        return f"{match['mark']} {said}"
    return f"{match['mark']} ``{tags}``" if telling and "`" not in tags else match.group()


def _value(match: re.Match[str]) -> str:
    return next((value for value in match.group("double", "single", "plain") if value), "")
