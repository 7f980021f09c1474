"""Of what a correction speaks when a claim is weighed: it is read together with the question that it was made on.

"It costs 5 euro a month" says something of a claim only if the question before it and the claim are of one thing and
one matter. Where that is not plain, the lesson says nothing of it.
"""

from __future__ import annotations

import regex

from harry_mcp.domain.corrections import Correction
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.domain.differences.reading import Part, Shape, Word, read
from harry_mcp.domain.pointing import points
from harry_mcp.domain.sentences import sentences

# An answer without a subject: "5 euro a month", "In Frankfurt", "Under Settings > Billing".
_NO_SUBJECT = regex.compile(
    r"^(?:[\p{N}$€£+-]|(?:in|on|at|from|by|after|before|with|without|under|over|about|for|to|up|only|until|within|via"
    r"|through|every|since|never|always|not)\b)",
    regex.IGNORECASE,
)
_FEW_WORDS = 2
# These ask for a value, and hold none themselves. "Why" takes what it asks about for granted.
_ASKS_FOR_ONE = regex.compile(
    r"^\W*(?:\p{L}+\W+){0,2}?(?:what|which|where|when|who|whom|whose|how|was|welche\p{L}*|wo|wann|wer|wie)\b",
    regex.IGNORECASE,
)
_ASKED_FOR = regex.compile(
    r"\b(?:which|(?:what|how (?:many|much))(?: (?:is|are|was) the)?) (\p{Ll}[\p{Ll}-]*)", regex.IGNORECASE
)
# They say what kind of thing a name is of, and are left out as often as not: "the Solo plan", "Solo".
_KINDS = frozenset(("plan", "product", "tool", "app", "service", "feature", "version", "edition", "tier", "package"))
_NAMING = frozenset({Shape.CAPITAL, Shape.ACRONYM, Shape.CODE, Shape.QUOTED, Shape.NUMBER})
# Of a whole answer that was called wrong, a sentence with less than this share of what the correction speaks of is on
# another matter.
_ON_IT = 0.5


def keys(text: str) -> frozenset[str]:
    """The words that carry the meaning of a text, forms and near-synonyms as one."""
    return frozenset(word.key for word in read(text).words if word.part in (Part.CONTENT, Part.NEGATION))


def denies(text: str) -> bool:
    """Whether a statement has an odd number of denials."""
    return sum(word.part is Part.NEGATION for word in read(text).words) % 2 == 1


def leans(correction: Correction) -> bool:
    """Whether a correction does not say of what it speaks, and the question that it was made on does."""
    return bool(correction.questions) and _leaning(correction.lesson) and _leaning(correction.truth)


def question_of(claim: str, correction: Correction, vocabulary: Vocabulary) -> str:
    """The question that a leaning correction was made on and that a claim speaks of; empty where none is.

    The claim must have all its names, and its other words save for what is asked for and for kinds of things.
    """
    said = keys(claim)
    return next((each for each in correction.questions if _on_one_thing(each, said, vocabulary)), "")


def together(question: str, correction: Correction) -> str:
    """A correction read behind its question."""
    return f"{question} {correction.lesson}"


def around(question: str, *, told_apart: frozenset[str]) -> str:
    """The words of a question that count as said by the lesson: never what was put to it to be confirmed or denied."""
    asks = bool(_ASKS_FOR_ONE.match(question))
    words = [word for word in read(question).words if word.key not in told_apart or (asks and not _counts(word))]
    return " ".join(word.surface for word in words)


def said_wrong(correction: Correction) -> str:
    """What a correction calls wrong. Of a whole answer that is the one sentence on the matter, or nothing."""
    parts = [each.plain for each in sentences(correction.wrong)]
    if len(parts) < 2:
        return correction.wrong
    matter = keys(" ".join((correction.lesson, correction.truth, *correction.questions[:1])))
    shared = {part: len(keys(part) & matter) for part in parts}
    on_it = [part for part in parts if shared[part] and shared[part] >= _ON_IT * len(keys(part))]
    most = max((shared[part] for part in on_it), default=0)
    best = [part for part in on_it if shared[part] == most]
    return best[0] if len(best) == 1 else ""


def _leaning(text: str) -> bool:
    return points(text) or bool(_NO_SUBJECT.match(text.strip())) or len(keys(text)) <= _FEW_WORDS


def _on_one_thing(question: str, said: frozenset[str], vocabulary: Vocabulary) -> bool:
    words = [word for word in read(question).words if word.part in (Part.CONTENT, Part.NEGATION)]
    names = [word for word in words if word.shape in _NAMING or word.folded in vocabulary.named]
    spared = {match.group(1).casefold() for match in _ASKED_FOR.finditer(question)} | (_KINDS if names else set[str]())
    needed = [word for word in words if word in names or word.folded not in spared]
    return bool(needed) and all(word.key in said for word in needed)


def _counts(word: Word) -> bool:
    return word.shape is Shape.NUMBER
