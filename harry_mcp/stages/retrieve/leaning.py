"""How far a question leans on what was said before it.

Three answers, for words alone cannot give two: "how do I delete one?" surely leans, "what is the rate limit?" may. A
question that may is searched as it stands, and again with what was spoken of only where that brings too little.
"""

from __future__ import annotations

from enum import StrEnum

import regex

from harry_mcp.domain.courtesies import without_courtesies
from harry_mcp.domain.tokens import index_terms

# A pronoun behind so many words that say something can point at one of them: "find duplicates and merge them".
_ANTECEDENT = 2
# A question with so many words says what it is about.
_SAYS_ENOUGH = 6


class Leaning(StrEnum):
    """``ALONE`` says all; ``OPEN`` is whole, but may mean something spoken of; ``LEANS`` points at it."""

    ALONE = "alone"
    OPEN = "open"
    LEANS = "leans"


_FLAGS = regex.VERBOSE | regex.IGNORECASE
_CONNECTIVE = regex.compile(
    r"(?:and|or|but|also|so|then|plus|ok(?:ay)?|well|now|alright|right|yes|no)\b[\s,.:;–—-]*", _FLAGS
)
_ABOUT = regex.compile(r"(?:what|how)\s+about\b\s*|(?:and\s+)?same\s+(?:question\s+)?for\s+", _FLAGS)
_CONTINUES = regex.compile(
    r"(?:what\s+(?:if|else)|why\s+not|why\s+so|how\s+(?:come|so)|in\s+(?:that|this|which)\s+case|for\s+(?:example|instance)"
    r"|more|any(?:thing)?\s+(?:more|other|else)|tell\s+me\s+more|go\s+on|like\s+what|such\s+as)\b",
    _FLAGS,
)
# "Which plan?" and "how many rows?" ask without saying of what.
_UNFINISHED = regex.compile(r"(?:how\s+(?:many|much)|which|what|whose)\s+[\w-]+\W*$", _FLAGS)
# What a clause of its own begins with. Behind "and", anything else is a piece of the question before.
_CLAUSE = regex.compile(
    r"""(?:how|what|which|who|whom|whose|where|when|why|is|are|was|were|am|do|does|did|can|could|should|shall|would|will
        |may|might|must|has|have|had|isn['’]?t|aren['’]?t|don['’]?t|doesn['’]?t|didn['’]?t|can['’]?t|cannot|couldn['’]?t
        |won['’]?t|i|we|you|there|tell|show|explain|give|list|describe|please|let|help|if)\b
      | (?:how|what|which|who|where|when)['’]s\b
      | (?:at|by|from|for|in|on|to|with|until|under|since)\s+(?:how|what|which|whom|when|where)\b
      | (?:my|our|the|a|an)\b.*\b(?:is|are|was|were|has|have|does|do|did|can|cannot|will|keeps?|fails?)\b""",
    _FLAGS,
)
_PRONOUN = regex.compile(
    r"(?P<own>\b(?:its|their|his|her)\b(?=\s+\w))|\b(?:it|they|them|theirs|he|she|him|his|her|hers|itself|themselves)\b",
    _FLAGS,
)
# What parts a pronoun from the word that it may point at: another clause, or the other side of an "and".
_NEWCLAUSE = regex.compile(
    r"\b(?:and|or|but|then)\b|[;:,.]|\b(?:when|if|before|after|because|while|until|once|whether|so|that|where|unless)\s+\w*$",
    _FLAGS,
)
# "Here" is with those who ask: "which index should we build here?" says all.
_POINTING = regex.compile(
    r"""^\W*that\b | \b(?:do|does|did|will|can|could|should|would|is|was|of|for|with|on|in|to|by|from|about|at|than|like
            |after|before|without|using|via)\s+that\b(?!\s+(?:the|a|an|my|i|we|you)\b)
      | \bthat\b\W*$ | \b(?:do|does|did|doing|done)\s+so\b
      | \b(?:this|these|those)\b
      | \bthere\b\W*$ | \b(?:how|and|then|up|from|in|over)\s+there\b
      | \b(?:which|other|another|this|that|each|any|every|a\s+new|an\s+old)\s+ones?\b
      | \bthe\s+(?:first|second|third|last|next)\s+ones?\b
      | \bones?\b(?=\W*$|\s+(?:in|on|at|for|with|from|by|to|is|are|does|do|can)\b) | \bthe\s+ones\b
      | \b(?:the\s+)?same\b(?=\W*$|\s+(?:for|with|on|in|there|here|thing|way)\b)
      | \b(?:both|either|neither|others|another|the\s+other|the\s+former|the\s+latter|the\s+above)\b(?=\W*$|\s+of\b)
      | \b(?:any|some|what|who|where|no|nothing)(?:thing|one|body)?\s+else\b
      | \b(?:too|as\s+well|instead|afterwards?|though|either)\b\W*$""",
    _FLAGS,
)
# No pointers: "is there a limit", "one of the", "those sites that I own", "it takes to".
_NOT_POINTING = regex.compile(
    r"""\b(?:is|are|was|were)\s+there\b(?!\W*$) | \bthere\s+(?:is|are|was|were|a|an|any)\b | \bone\s+of\b
      | \b(?:this|that|these|those)\s+\w+\s+(?:that|which|who|whom|where|i|we|you)\b | \bthose\s+(?:who|that|which)\b
      | \bit\s+(?:is|was)\s+(?:possible|necessary|required|allowed|safe|ok(?:ay)?|legal|better|best|worth)\b
      | \b(?:is|was)\s+it\s+(?:possible|necessary|required|allowed|safe|ok(?:ay)?|legal|better|best)\b
      | \bit\s+takes?\s+(?:to|for)\b
      | \b(?:does|will|should)\s+it\s+(?:take|mean|cost)\b(?=\s+(?:to|for|when|if|that)\b)
      | \bthis\s+(?:morning|week|month|year|quarter) | \bthat['’]s\b(?!\W*$)""",
    _FLAGS,
)

# What asks on without a word of its own: the page that it is about is the one that was shown already.
_ASKS_ON = regex.compile(
    r"""(?:(?:but|and|so|then|well|no|yes|ok(?:ay)?|really|wait|hm+)\b[\s,.:;–—-]*)*
        (?:why(?:\s+(?:not|so|then|exactly|though))?|how\s+(?:come|so)|what\s+(?:for|then|else|now)|then\s+what|then|and
            |for\s+what\s+reason|since\s+when|any(?:thing|one)?\s+(?:else|more)|(?:tell\s+me\s+)?more|go\s+on|really
            |is\s+that\s+(?:so|true|all|right|it)|(?:are\s+you\s+)?sure)
        (?:\s+(?:(?:is|was|does|do|did|would)n?['’]?t?|that|this|it|be|so|the\s+case|the\s+reason|then|please
            |about\s+(?:it|that|this)))*\W*""",
    _FLAGS,
)
# Opens a question behind an answer. In capital letters they are words of a query language.
_OPENER = regex.compile(r"(?:[Aa]nd|[Bb]ut|[Ss]o|[Aa]lso|[Tt]hen|[Oo]k(?:ay)?)\b[\s,.:;–—-]*")
# A question that names its object needs no other: "How do I create an index in MongoDB?"
_NAMED = regex.compile(
    r"""(?<=\w\W+)(?!I\b)(?:\p{Lu}[\p{L}\p{N}]+|\w*\p{Ll}\p{Lu}\w*|\w+_\w+|\p{L}+\p{N}\w*)|["“«`']\w""", regex.VERBOSE
)
# Words of a question that no page needs to hold.
_SAY_NOTHING = frozenset(
    index_terms(
        "go come happen work long far much many take make see look thing again later now still else more other another "
        "same one first anything something someone anyone everyone too"
    )
)


def leaning(question: str) -> Leaning:
    """How far a question leans on an earlier one."""
    text = without_courtesies(question)
    asked = bare(text)
    if not said(asked) or _ABOUT.match(without_connectives(text)) or _CONTINUES.match(asked):
        return Leaning.LEANS
    if (asked != text and not _CLAUSE.match(asked)) or points(asked) or _UNFINISHED.match(asked):
        return Leaning.LEANS
    enough = len(said(asked)) >= _SAYS_ENOUGH or _NAMED.search(asked)
    return Leaning.ALONE if enough else Leaning.OPEN


def whole(question: str) -> str:
    """The question without thanks and "and" in front of it, where a clause of its own follows.

    "Great, thank you! And how do I export?" asks how to export.
    """
    asked = without_courtesies(question)
    while (found := _OPENER.match(asked)) and found.end() < len(asked):
        asked = asked[found.end() :]
    return asked if _CLAUSE.match(asked) and said(asked) else question


def asks_on(question: str) -> bool:
    """Whether a question only asks for reasons or for more, like "why?" or "and then?"."""
    return _ASKS_ON.fullmatch(without_courtesies(question)) is not None


def is_piece(question: str) -> bool:
    """Whether a question is a part of one, like "and on Windows?", and names by itself what it is about."""
    asked = bare(question)
    return asked != question and bool(said(asked)) and not _CLAUSE.match(asked) and not points(asked)


def own_words(question: str, language: str = "en") -> frozenset[str]:
    """The words of a question that a page must hold to answer it: without those that only point or hold together."""
    kept = _POINTING.sub(" ", _NOT_POINTING.sub(" ", bare(without_courtesies(question))))
    return frozenset(index_terms(kept, language)) - _SAY_NOTHING


def bare(text: str) -> str:
    """A question without the "and", "so" or "what about" in front of it."""
    return _ABOUT.sub("", without_connectives(text), count=1) or text


def without_connectives(text: str) -> str:
    while (found := _CONNECTIVE.match(text)) and found.end() < len(text):
        text = text[found.end() :]
    return text


def said(text: str) -> list[str]:
    """The words that carry meaning, as the index has them."""
    return index_terms(text)


def points(text: str) -> bool:
    """Whether a word points out of the text."""
    kept = _NOT_POINTING.sub(lambda match: "_" * len(match.group()), text)
    return bool(_POINTING.search(kept)) or any(_outward(kept, found) for found in _PRONOUN.finditer(kept))


def _outward(text: str, pronoun: regex.Match[str]) -> bool:
    """Whether no word before a pronoun can be what it points at."""
    before = text[: pronoun.start()]
    if len(said(before)) < _ANTECEDENT:
        return True
    if pronoun["own"]:
        return False
    # "before it expires" begins a clause, "after them?" does not.
    parted = _NEWCLAUSE.search(before)
    return parted is None or len(said(before[: parted.start()])) < 1
