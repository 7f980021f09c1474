"""The same question in other words, made without a model.

These are what people do to a question that they ask again: paste only its first line, or only what stands under it;
leave words out; say things in another order; mistype. None brings a word that was not there, so a synonym is not among
them, and what is measured on them says nothing of synonyms.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from enum import StrEnum

# Of a question's words, how many are left out, and how many are mistyped.
_LEFT_OUT = 0.3
_MISTYPED = 0.12
# Under so many words it is no question any more.
_LEAST_WORDS = 3
# Shorter words are not mistyped: the outcome would be another word.
_LONG_WORD = 5
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class Form(StrEnum):
    """How a question is put."""

    WHOLE = "whole"
    TITLE = "title"
    BODY = "body"
    FEWER = "fewer"
    ORDER = "order"
    TYPOS = "typos"


def forms(text: str, seed: str) -> dict[Form, str]:
    """The question in every form that it has; the same for the same ``seed``. A form that changes nothing is left out.

    A question of one sentence has no title and no body.
    """
    found = {Form.WHOLE: text}
    for form, make in _MAKERS.items():
        made = make(text, random.Random(f"{seed}|{form}|{text}"))
        if len(made.split()) >= _LEAST_WORDS and _bare(made) not in {_bare(each) for each in found.values()}:
            found[form] = made
    return found


def _title(text: str, _: random.Random) -> str:
    return _parts(text)[0]


def _body(text: str, _: random.Random) -> str:
    return _parts(text)[1]


def _fewer(text: str, dice: random.Random) -> str:
    words = text.split()
    gone = set(dice.sample(range(len(words)), round(len(words) * _LEFT_OUT)))
    return " ".join(word for place, word in enumerate(words) if place not in gone)


def _order(text: str, _: random.Random) -> str:
    """The sentences from the last to the first; of a single one the second half before the first."""
    said = [part for line in text.splitlines() for part in _SENTENCE.split(line.strip()) if part]
    if len(said) > 1:
        return "\n".join(reversed(said))
    words = text.split()
    half = len(words) // 2
    return " ".join(words[half:] + words[:half])


def _typos(text: str, dice: random.Random) -> str:
    """Two neighbouring letters inside of some words change places."""
    words = text.split()
    able = [place for place, word in enumerate(words) if len(word) >= _LONG_WORD and word.isalpha()]
    for place in dice.sample(able, min(len(able), max(1, round(len(words) * _MISTYPED)))):
        word = words[place]
        at = dice.randrange(1, len(word) - 2)
        words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def _parts(text: str) -> tuple[str, str]:
    """The first line and the rest; of a single line the first sentence and the rest. Without a rest both are empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = lines if len(lines) > 1 else _SENTENCE.split(text.strip())
    return (said[0], "\n".join(said[1:])) if len(said) > 1 else ("", "")


def _bare(text: str) -> str:
    return " ".join(text.casefold().split())


_MAKERS: Mapping[Form, Callable[[str, random.Random], str]] = {
    Form.TITLE: _title,
    Form.BODY: _body,
    Form.FEWER: _fewer,
    Form.ORDER: _order,
    Form.TYPOS: _typos,
}
