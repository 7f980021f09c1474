"""One line of Markdown as plain words, for titles and heading paths."""

from __future__ import annotations

import html
import re

_CODE = re.compile(r"(`+)(.+?)\1")
_IMAGE = re.compile(r"!\[([^\]\[]*)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\]\[]*)\](?:\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<!--.*?-->")
_EMPHASIS = re.compile(r"(?<!\w)([*_]{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_ANCHOR = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*$")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARK = re.compile("[\ue000-\uf8ff¶]")  # icon fonts' private characters, and the sign of an anchor link
_BADGE = re.compile(r"shields\.io|badge|travis-ci|codecov|coveralls|/workflows/|circleci|\.svg\?branch", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{2,}.*\s.*[^\W\d_]{2,}|[\u0e00-\u0fff\u2e80-\uffef]{2,}", re.DOTALL)
_STARTS_BLOCK = re.compile(r"(#{1,6}(?=\s|$)|`{3}|~{3}|>|[-+](?=\s|$)|={3,}$|\|)")


def escape_block_start(line: str) -> str:
    """A line of words, escaped where Markdown would take it for a heading, a list, a quote or a fence."""
    return _STARTS_BLOCK.sub(r"\\\1", line) if _STARTS_BLOCK.match(line) else line


def image_words(alt: str, address: str) -> str:
    """What an image says: its alternative text when that is words, "" for a badge, a file name or a lone "logo"."""
    words = " ".join(alt.split())
    return words if _WORDS.search(words) and not _BADGE.search(address) else ""


def plain_inline(markdown: str) -> str:
    """The words of one line: no emphasis, code marks, links, tags, anchors or icons; spaces collapsed."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match.group(2).strip())
        return f"\x00{len(kept) - 1}\x00"

    text = _CODE.sub(keep, markdown.replace("\x00", ""))  # what stands in code marks is not Markdown
    text = _ANCHOR.sub("", _LINK.sub(r"\1", _IMAGE.sub(r"\1", text)))
    text = _EMPHASIS.sub(r"\2", _TAG.sub("", text))
    text = html.unescape(_ESCAPE.sub(r"\1", text))
    text = re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match.group(1))], text)
    return " ".join(_MARK.sub("", text).split())
