"""Making a question ready: fluff off, glossary in, length bounded. Never empty, whatever came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import regex

from harry_mcp.domain.search import OptimizedQuery
from harry_mcp.domain.tokens import STOP_WORDS

# Only what people say around a question, never inside one: each pattern is tied to the start or the end.
_OPENINGS = regex.compile(
    r"""^(?:
        (?:hey|hi|hello|dear|good\s+(?:morning|afternoon|evening)|please|excuse\s+me|sorry)
            (?:\s+(?:there|all|team|guys|everyone|folks|assistant|claude|harry))?\b(?!-)[\s,.!:]*
      | (?:ok(?:ay)?|so|well|um+)\b\s*[,.!:]\s*
      | (?:can|could|would|will)\s+(?:you|u|someone|anyone|anybody|somebody)\s+(?:please\s+|kindly\s+)?
            (?:(?:help|tell|show|explain|remind|advise|assist)\b\s*(?:to\s+)?(?:me|us)?\b\s*
               (?:with|about|understand|out|on|figure\s+out)?\b\s*)
      | (?:please\s+)?(?:tell|show|remind)\s+(?:me|us)\s+(?:about\s+)?
      | i(?:\s+was|['’]m|\s+am)\s+(?:just\s+)?(?:wondering|curious|trying\s+to\s+(?:figure|find)\s+out)\s*
            (?:about|if|whether|how)?\b[\s,:]*
      | (?:i\s+have\s+a|quick|just\s+a|one)\s+(?:quick\s+|simple\s+)?question\b[\s,.:-]*(?:about\s+)?
      | do\s+you\s+(?:happen\s+to\s+)?know\s+(?:if\s+|whether\s+)?
      | i(?:\s+would|['’]d)\s+(?:like|love)\s+to\s+(?:know|ask|understand)\s+(?:about\s+|if\s+|whether\s+)?
    )""",
    regex.VERBOSE | regex.IGNORECASE,
)
_CLOSINGS = regex.compile(
    r"""[\s,.!-]*\b(?:please|thanks(?:\s+(?:a\s+lot|so\s+much|in\s+advance|all))?
        |thank\s+you(?:\s+(?:so|very)\s+much|\s+in\s+advance)?|thx|cheers|many\s+thanks
        |any\s+(?:help|ideas?|suggestions?)(?:\s+(?:is|are|would\s+be))?(?:\s+(?:much|greatly))?(?:\s+appreciated)?)
        [\s.!]*(?P<mark>\??)[\s.!?]*$""",
    regex.VERBOSE | regex.IGNORECASE,
)
_UNPRINTABLE = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]+")
# Joiners shape letters in Indic and Arabic text and emoji; without them words fall apart.
_JOINERS = regex.compile(r"(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d](?=[\p{L}\p{M}\p{Emoji}])")


def clean(text: str) -> str:
    """One line without control, format and unassigned characters; joiners inside words stay."""
    kept = _JOINERS.sub(lambda match: "\ue000" if match.group() == "\u200c" else "\ue001", text)
    kept = _UNPRINTABLE.sub(lambda match: _restore(match.group()), kept)
    return " ".join(kept.split())


def _restore(run: str) -> str:
    back = "".join({"\ue000": "\u200c", "\ue001": "\u200d"}.get(character, " ") for character in run)
    return back if back.strip() else " "


def optimize(question: str, glossary: Mapping[str, Sequence[str]], limit: int) -> OptimizedQuery:
    """The question without fluff, at most ``limit`` characters, with the glossary's words added.

    A question that is nothing but fluff is kept as it was.
    """
    cleaned = clean(question)
    asked = bare(question)
    expansions = _expansions(asked, glossary)
    room = max(limit - sum(len(word) + 1 for word in expansions), limit // 2)

    def with_expansions(words: str) -> str:
        return cut_at_word(" ".join([cut_at_word(words, room), *expansions]), limit)

    return OptimizedQuery(
        question=cleaned, text=with_expansions(asked), keywords=with_expansions(content_words(asked) or asked)
    )


def bare(question: str) -> str:
    """The question without what people say around one; itself when it is nothing else."""
    cleaned = clean(question)
    return _strip_fluff(cleaned) or cleaned


def content_words(text: str) -> str:
    """The text without its stop words. Dropped before the cut, they leave room for words from further on, which
    lifts the right page into the first five for one long question in a hundred (techqa)."""
    return " ".join(word for word in text.split() if regex.sub(r"\W", "", word).lower() not in STOP_WORDS)


def _strip_fluff(text: str) -> str:
    while True:
        shorter = _OPENINGS.sub("", text, count=1).lstrip(" ,.:;!-")
        if shorter == text or not shorter:
            break
        text = shorter
    return _CLOSINGS.sub(lambda match: match["mark"].strip(), text).strip()


def _expansions(text: str, glossary: Mapping[str, Sequence[str]]) -> list[str]:
    folded = text.casefold()
    found: list[str] = []
    for term, meanings in glossary.items():
        pattern = r"(?<![\p{L}\p{N}])" + regex.escape(term.casefold()) + r"(?![\p{L}\p{N}])"
        if regex.search(pattern, folded):
            found.extend(word for word in meanings if word.casefold() not in folded and word not in found)
    return found


def cut_at_word(text: str, limit: int) -> str:
    """At most ``limit`` characters, ended at a space when one is near, never between a letter and its marks."""
    if len(text) <= limit:
        return text
    head = text[:limit]
    if not text[limit].isspace():
        space = head.rfind(" ")
        if space >= limit // 2:
            return head[:space].rstrip()
        while head and regex.match(r"\p{M}", text[len(head)]):
            head = head[:-1]
    return head.rstrip()
