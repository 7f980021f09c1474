"""A follow-up written out: what it points at is put in from the question before it, without a model.

Search needs no grammar, but it needs the right words and no others. So a piece takes the place of its like ("and with
Okta?" behind "... with Entra?"), a pronoun that of what was asked about, and only what is left goes behind.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from harry_mcp.domain.courtesies import courtesy, without_courtesies
from harry_mcp.stages.retrieve.leaning import Leaning, bare, is_piece, leaning, said
from harry_mcp.stages.retrieve.query import bare as without_fluff
from harry_mcp.stages.retrieve.query import cut_at_word

_FLAGS = regex.VERBOSE | regex.IGNORECASE
# Longer ones are whole stories; their beginning says what they are about.
_LONGEST = 160
# A question of so few words is about what was spoken of before it, whatever it looks like.
_SAYS_LITTLE = 1
_MOST_NAMES = 3
_END = " ?!."
_PREPOSITION = r"""(?:on|for|with|in|from|to|into|onto|under|using|via|without|at|by|through|over|after|before|since
    |inside)"""
_PLACED = regex.compile(rf"({_PREPOSITION})\s+.+", _FLAGS)
_UNTIL = rf"(?:(?!\b(?:{_PREPOSITION}|and|or|if|when|that|which)\b)[^\s,;?!]+\s*)+"
_NAME = regex.compile(
    r"""(?:\p{Lu}[\p{L}\p{N}.+\#-]*|\p{L}*\p{N}[\p{L}\p{N}.]*)
        (?:\s+(?:\p{Lu}[\p{L}\p{N}.+\#-]*|\p{N}[\p{N}.]*))*""",
    regex.VERBOSE,
)
_SENTENCE_END = regex.compile(r"[.:;!?][\s\"'“‘(*>-]*$")
# "How do I", "can we", "tell me about": what stands before the thing itself.
_ASKING = regex.compile(
    r"""(?:(?:how|where|when|why|what|who|whom)\s+)?(?:do|does|did|can|could|should|would|will|may|must|might|shall)
          (?:n['’]?t|not)?\s+(?:i|we|you|they|one|people|it|he|she)\s+
          (?:(?:have|need|want|be|get)\s+(?:able\s+)?to\s+|not\s+)?
      | (?:what|who|where|how|when)(?:['’]s|\s+(?:is|are|was|were))\s+
      | how\s+(?:much|many|long|often|far|big|fast)\s+(?:is|are|was|were|does|do|did|can|will)\s+
      | (?:is|are|was|were)\s+there\s+ | how\s+to\s+ | (?:what|how)\s+about\s+
      | (?:we|i)\s+(?:need|want|have|would\s+like|['’]d\s+like)\s+to\s+
      | (?:please\s+)?(?:tell|show|explain|describe|list|give)\s+(?:(?:to\s+)?(?:me|us)\s+)?(?:(?:more\s+)?about\s+)?
    """,
    _FLAGS,
)
# Those among them that a verb follows.
_DOING = regex.compile(
    r"(?:(?:how|where|when|why|what|who)\s+)?(?:to|do|does|did|can|could|should|would|will|may|must|we|i)\b", _FLAGS
)
_VERB = regex.compile(r"[\p{L}-]+(?:\s+(?:up|off|out|down|back|away|over)\b)?\s+", _FLAGS)
_DETERMINER = regex.compile(r"(?:an?|the|my|our|your|their|his|her|its|some|any|this|that|these|those|all)\s+", _FLAGS)
_POINTER = regex.compile(
    r"""(?<!\b(?:do|does|did|doing|done|undo|redo)\s)(?:
            \b(?:its|their)\b(?=\s+\w) | \b(?:it|they|them)\b | \b(?:this|that|these|those)\s+ones?\b
          | \bones?\b(?=\W*$)
          | \b(?:this|that|these|those)\b(?=\W*$|\s+(?:is|are|was|were|work|cost|mean|in|on|for|with)\b)
          | (?<=\b(?:is|are|was|were|does|do|did|will|can|could|would|should)\s)(?:this|that|these|those)\b)""",
    _FLAGS,
)


def written_out(question: str, turns: Sequence[str], *, answered: str = "") -> str:
    """The question with what it points at, as far as the user's own ``turns`` before it, oldest first, tell.

    Where they tell nothing, the names in the last answer do. Unchanged where nothing was spoken of.
    """
    spoken_of = ""
    for turn in turns:
        asked = cut_at_word(without_fluff(without_courtesies(turn)), _LONGEST)
        if courtesy(turn, answered=True) or not said(asked):
            continue
        if spoken_of and (leaning(asked) is Leaning.LEANS or len(said(asked)) <= _SAYS_LITTLE):
            spoken_of = _joined(asked, spoken_of).replace("?", "")
        else:
            spoken_of = asked
    if not spoken_of:
        return _with_words(question, " ".join(_names(answered)))
    return _joined(without_courtesies(question), spoken_of)


def _joined(question: str, before: str) -> str:
    before = before.rstrip(_END)
    if is_piece(question):
        return _with_piece(bare(question).rstrip(_END), before)
    pointer, thing = _POINTER.search(question), _thing(before)
    if pointer and thing:
        question = f"{question[: pointer.start()]}{thing}{question[pointer.end() :]}"
    return _with_words(question, before)


def _thing(before: str) -> str:
    """What a question was about, without what was to be done with it: empty where its form does not tell."""
    asking = _ASKING.match(before)
    if asking is None:
        return ""
    rest = before[asking.end() :]
    verb = _VERB.match(rest) if _DOING.match(before) else None
    return _DETERMINER.sub("", rest[verb.end() :] if verb else rest, count=1)


def _with_piece(piece: str, before: str) -> str:
    """The question before with a piece in the place of its like: what stands behind the same preposition, is a thing
    of the same kind ("the other plan"), or has a name too. Else it is what the same is to be done with."""
    placed = _PLACED.match(piece)
    if placed:
        alike = list(regex.finditer(rf"\b{placed[1]}\s+{_UNTIL}", before, _FLAGS))
        return f"{_replaced(before, alike[-1], piece) if alike else f'{before} {piece}'}?"
    kind = regex.escape(piece.split()[-1])
    same = regex.search(rf"\b(?:(?:the|an?|my|our|your)\s+(?:\S+\s+){{0,2}}?|\p{{Lu}}\S*\s+){kind}\b", before)
    if same and " " in piece:
        return f"{_replaced(before, same, piece)}?"
    name = _NAME.fullmatch(piece)
    names = [found for found in _NAME.finditer(before) if found.start()]
    if name and names:
        return f"{_replaced(before, names[-1], piece)}?"
    asking = _ASKING.match(before)
    if asking is None:
        return _with_words(piece, before)
    verb = _VERB.match(before[asking.end() :]) if _DOING.match(before) and not _is_deed(piece) else None
    return f"{before[: asking.end()]}{verb.group() if verb else ''}{piece}?"


def _replaced(text: str, like: regex.Match[str], piece: str) -> str:
    return f"{text[: like.start()]}{piece} {text[like.end() :]}".strip()


def _is_deed(piece: str) -> bool:
    """Whether a piece is something to be done, like "delete my account"."""
    verb = _VERB.match(piece)
    return bool(verb and not _DETERMINER.match(piece) and _DETERMINER.match(piece, verb.end()))


def _names(answer: str) -> list[str]:
    """Names in an answer. What begins a sentence has a capital letter for that alone, unless more follow."""
    found: dict[str, None] = {}
    for name in _NAME.finditer(answer):
        before = answer[: name.start()]
        words = name.group().rstrip(".").split()
        begins = not before.strip() or bool(_SENTENCE_END.search(before))
        if not (begins and len(words) == 1 and words[0][1:].islower()):
            found[" ".join(words)] = None
    return list(found)[:_MOST_NAMES]


def _with_words(question: str, before: str) -> str:
    held = set(said(question))
    words = [word.strip(".,;:!?()[]\"“”'`") for word in before.split()]
    new = list(dict.fromkeys(word for word in words if (terms := said(word)) and not held.issuperset(terms)))
    return " ".join([question, *new])
