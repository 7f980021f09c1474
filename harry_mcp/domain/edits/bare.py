"""A statement without the markup that says nothing: links, footnotes, classes, entities, tags, numbers of steps."""

from __future__ import annotations

import html

import regex

# What stands between backticks is meant as it stands; the first alternative of each pattern keeps it.
_CODE = r"(?P<code>`{1,3}[^`]{1,300}`{1,3})"
# All repetition is bounded: texts of strangers come here.
_MARKUP = regex.compile(
    rf"""{_CODE}
    | !?\[(?P<text>[^\[\]]{{0,300}})\]\([^()]{{0,600}}(?:\([^()]{{0,200}}\)[^()]{{0,200}})?\)  # [text](target)
    | !?\[(?P<named>[^\[\]]{{1,300}})\]\s?\[[^\[\]]{{0,100}}\]      # [text][reference]
    | \[\^[^\]\s]{{1,60}}\]:?                                      # [^1]
    | \[[^\[\]]{{1,100}}\]:\s{{0,9}}<?(?:https?:|mailto:|[./\#]|[\w-]{{1,60}}[./])\S{{1,600}}  # [reference]: target
    | \[!\w{{1,20}}\]                                              # [!NOTE]
    | (?<!\S)\[[ xX]\](?=\s)                                      # a box to tick
    | :\w[\w:]{{0,40}}:`(?P<role>[^<`]{{0,300}})[^`]{{0,300}}`        # :ref:`text<target>`
    | :(?:fontawesome|material|octicons|simple)-[\w-]{{1,60}}:
    | \{{\{{[%<]-?\s{{0,9}}/?\s{{0,9}}[\w/.-]{{1,60}}\s{{0,9}}-?[%>]\}}\}}       # a shortcode without arguments
    | \{{:?(?:\s?[.\#][\w:-]{{1,60}}|\s?[\w-]{{1,30}}="[^"]{{0,100}}"|\s?:){{1,9}}\s?\}}  # classes and ids
    | </?(?!https?:|mailto:)[a-zA-Z!][^<>]{{0,600}}>""",
    regex.VERBOSE,
)
_EMPHASIS = regex.compile(rf"{_CODE}|(?<![\w_])(_{{1,3}})(?=\S)(?P<text>[^_`]{{1,200}}?)(?<=\S)\2(?![\w_])")
# Invisible, or a hint where a word may be broken.
_NOTHING = regex.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
# A step that moved changes its number and nothing else.
_NUMBERING = regex.compile(
    r"^[\s#>*|-]*(?:(?:step|option|task|part|chapter|phase)\s+(?:\d+|[a-z]|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"\b(?:\s*\([^)]*\))?\s*[:.)-]?|\d{1,2}[.:)]?(?=\s+[\p{Lu}`*\"]))\s*",
    regex.IGNORECASE,
)


_LONGEST = 5000
_NESTED = 2


def bare(text: str) -> str:
    """The statement as it is read: what links, notes and tags say, without where they lead and how they look.

    Bold and code stay, for they name buttons, options and values. What is longer than statements are stays as it is.
    """
    if len(text) > _LONGEST:
        return text
    text = _NOTHING.sub("", html.unescape(text)).replace("\u00a0", " ")
    text = _NUMBERING.sub("", text)
    for _ in range(_NESTED):  # a picture in a link
        text = _MARKUP.sub(_said, text)
    return _EMPHASIS.sub(lambda match: match["code"] or match["text"], text)


def _said(match: regex.Match[str]) -> str:
    for name in ("code", "text", "named", "role"):
        if match[name]:
            return match[name]
    return " "
