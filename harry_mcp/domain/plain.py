"""OPS-1: text from documents, the web and people, made plain: nothing in it that does not show, and not too long."""

from __future__ import annotations

import re
import unicodedata

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Nothing here is visible: C0 and C1 controls, lone surrogates, soft hyphens, bidirectional marks and overrides,
# zero-width spaces and joiners of words, annotation marks, noncharacters, and the tag block (hidden messages).
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e00ff]"
)
# A joiner shapes Persian, Indic scripts and emoji; between ASCII letters it only hides a word from search.
_JOINERS = re.compile("[\u200c\u200d]+")
# Selectors of the supplement choose a form of an ideograph; anywhere else they smuggle bytes.
_STRAY_SELECTORS = re.compile("(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]+")
_TRAILING = re.compile(r"[ \t]+(?=\n|\Z)")
_BLANK_LINES = re.compile(r"\n{3,}")
# Marks piled on a letter hide it and spill over the lines around; living languages need three at most.
_PILED = re.compile(
    "([\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3})"
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_ELLIPSIS = "…"


def visible(text: str) -> str:
    """NFC text with ``\\n`` line ends and nothing invisible in it but tabs; doing it twice changes nothing."""
    text = unicodedata.normalize("NFC", _LINE_ENDS.sub("\n", text))
    text = _INVISIBLE.sub("", text).replace("\xa0", " ")
    text = _JOINERS.sub(_kept_joiner, _STRAY_SELECTORS.sub("", text))
    # Again, because what was taken out may have stood between a letter and its accent.
    return _TRAILING.sub("", unicodedata.normalize("NFC", text)).strip("\n")


def sanitised(text: str, limit: int) -> str:
    """``visible`` text of at most ``limit`` characters, without piled marks or runs of empty lines.

    A longer text is cut, at a space where one is near, and ends with an ellipsis, which counts. Fences are the
    caller's: a nonce per reply is what stored text cannot imitate.
    """
    # What is far beyond the limit is not worth the work; composing never makes a text longer than that.
    text = _BLANK_LINES.sub("\n\n", _PILED.sub(r"\1", visible(text[: 8 * limit + 64])))
    text = visible(text.strip())
    if len(text) <= limit:
        return text
    head = text[: max(0, limit - len(_ELLIPSIS))]
    space = max(head.rfind(" "), head.rfind("\n"))
    if space >= len(head) * 3 // 4:
        head = head[:space]
    while head and unicodedata.combining(text[len(head)]):
        head = head[:-1]
    return visible(head).rstrip() + _ELLIPSIS if limit else ""


def one_line(text: str, limit: int) -> str:
    """``sanitised`` text without line ends, tabs or runs of spaces."""
    return " ".join(sanitised(text, limit).split())


def folded(question: str) -> str:
    """A question as it is compared word for word: letter case, spacing and closing marks do not count."""
    return " ".join(question.casefold().split()).rstrip("?!. ")


def _kept_joiner(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    between = start > 0 and end < len(text) and not text[start - 1].isascii() and not text[end].isascii()
    return match.group()[0] if between else ""
