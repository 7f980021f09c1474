"""The vendors as scripts: a server of :mod:`tests.providers.vendor` that answers each kind of request in its way.

``async with vendor(ScriptedAnthropic(Scores=Answer(hangs=True))) as server`` is a Claude that does all but re-rank. A
kind is given an :class:`Answer` or a function of the request; what is not given answers sensibly.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.providers.vendor import Answer, Asked, message

Handler = Callable[[Asked], Answer]
Rate = Callable[[str, str], float]

_PASSAGE = re.compile(r'<passage-(\w+) number="(\d+)">\n(.*?)\n</passage-\1>', re.DOTALL)
_QUESTION = re.compile(r"<question-(\w+)>\n(.*?)\n</question-\1>", re.DOTALL)


class _Scripted:
    """``asked`` holds the requests by kind, in their order."""

    def __init__(self, given: dict[str, Answer | Handler]) -> None:
        self._given = given
        self.asked: dict[str, list[Asked]] = defaultdict(list)

    def __call__(self, asked: Asked, _number: int) -> Answer:
        kind = self.kind(asked)
        self.asked[kind].append(asked)
        handler = self._given.get(kind)
        if handler is None:
            return self.usual(kind, asked)
        return handler if isinstance(handler, Answer) else handler(asked)

    def give(self, **given: Answer | Handler) -> None:
        """Answer these kinds in another way from now on."""
        self._given |= given

    def kind(self, asked: Asked) -> str:
        raise NotImplementedError

    def usual(self, kind: str, asked: Asked) -> Answer:
        raise NotImplementedError


class ScriptedAnthropic(_Scripted):
    """The Messages API. Kinds: the name of the shape that an answer must have (``Scores``, ``StandAlone``, ...),

    ``context`` for a question about a document, ``complete`` for any other.
    """

    def __init__(self, **given: Answer | Handler) -> None:
        super().__init__(given)

    def kind(self, asked: Asked) -> str:
        if output := asked.body.get("output_config"):
            return str(output["format"]["schema"]["title"])
        return "context" if len(asked.body["messages"][0]["content"]) > 1 else "complete"

    def usual(self, kind: str, asked: Asked) -> Answer:
        if kind == "Scores":
            return scores(shared_words)(asked)
        if kind in ("context", "complete"):
            return Answer(message(question_of(asked)))
        return Answer({"type": "error", "error": {"message": f"no script for {kind}"}}, status=400)


class ScriptedVoyage(_Scripted):
    """Voyage's API. Kinds: ``embeddings``, ``contextualizedembeddings`` and ``rerank``, its paths."""

    def __init__(self, **given: Answer | Handler) -> None:
        super().__init__(given)

    def kind(self, asked: Asked) -> str:
        return asked.path.strip("/")

    def usual(self, kind: str, asked: Asked) -> Answer:
        if kind == "rerank":
            return reranked(shared_words)(asked)
        dimension = asked.body["output_dimension"]
        if kind == "embeddings":
            return Answer(_listed([_vector(text, dimension) for text in asked.body["input"]]))
        groups = [_listed([_vector(text, dimension) for text in group]) for group in asked.body["inputs"]]
        return Answer({"object": "list", "data": groups, "usage": {"total_tokens": 7}})


def shaped(value: Any, **fields: Any) -> Answer:
    """An answer of Claude that should have a shape."""
    return Answer(message(json.dumps(value), **fields))


def question_of(asked: Asked) -> str:
    """What was asked of Claude, without the document."""
    return str(asked.body["messages"][0]["content"][-1]["text"])


def passages_of(asked: Asked) -> list[str]:
    """The passages of a request to re-rank, in their order."""
    return [text for _, _, text in _PASSAGE.findall(question_of(asked))]


def scores(rate: Rate) -> Handler:
    """Claude as a re-ranker that rates each passage from 0 to 1, given the question and the passage."""

    def handler(asked: Asked) -> Answer:
        question = _QUESTION.findall(question_of(asked))[0][1]
        rated = [round(100 * rate(question, text)) for text in passages_of(asked)]
        return shaped({f"p{number}": percent for number, percent in enumerate(rated, start=1)})

    return handler


def reranked(rate: Rate) -> Handler:
    """Voyage as a re-ranker that rates each passage from 0 to 1; it answers best first, as Voyage does."""

    def handler(asked: Asked) -> Answer:
        rated = [rate(asked.body["query"], text) for text in asked.body["documents"]]
        data = [
            {"index": index, "relevance_score": rated[index]}
            for index in sorted(range(len(rated)), key=lambda n: -rated[n])
        ]
        return Answer({"object": "list", "data": data, "model": "rerank-2.5-lite", "usage": {"total_tokens": 11}})

    return handler


def shared_words(question: str, passage: str) -> float:
    """The share of the question's words that the passage has."""
    words = set(re.findall(r"\w+", question.lower()))
    return len(words & set(re.findall(r"\w+", passage.lower()))) / max(1, len(words))


def _vector(text: str, dimension: int) -> npt.NDArray[np.float32]:
    """A bag of words: texts with the same words are near. Of no unit length, as an API may answer."""
    vector = np.full(dimension, 1e-3, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % dimension] += 1
    return vector


def _listed(vectors: list[npt.NDArray[np.float32]]) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": number, "embedding": base64.b64encode(vector.tobytes()).decode()}
        for number, vector in enumerate(vectors)
    ]
    return {"object": "list", "data": data, "usage": {"total_tokens": 7}}
