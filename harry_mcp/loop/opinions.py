"""What somebody said of a result, made fit to be kept: clean, bounded and without private details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.feedback import Feedback, Opinion, Rating
from harry_mcp.domain.people import Principal
from harry_mcp.domain.plain import one_line, sanitised
from harry_mcp.domain.verified import LONGEST_ANSWER, LONGEST_QUESTION
from harry_mcp.errors import ProviderError
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.rated import LONGEST_ID, Rated
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.stages.correct.screening import screen
from harry_mcp.storage.texts import storable

_LONGEST_COMMENT = 2000
_LONGEST_ADDRESS = 2000
_MOST_ADDRESSES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An opinion made fit to be kept: feedback without anything private or invisible, and how many such were taken out.

    ``vector`` is None while the embedding model is down: it is made up for at a later start. ``addresses`` are as they
    were given, to find documents by. ``warns``: it may be shown to agents.
    """

    feedback: Feedback
    vector: npt.NDArray[np.float32] | None
    addresses: tuple[str, ...]
    redacted: int
    warns: bool
    whole: bool

    @property
    def down(self) -> bool:
        return self.feedback.rating is Rating.DOWN


async def heard(opinion: Opinion, author: Principal, about: Rated, questions: Questions) -> Told:
    """An opinion on a result, as it is kept."""
    answer = sanitised(opinion.answer, LONGEST_ANSWER)
    given = [storable(url.strip())[:_LONGEST_ADDRESS] for url in opinion.source_urls[:_MOST_ADDRESSES]]
    parts = [
        redact(text)
        for text in (
            sanitised(questions.bare(about.question), LONGEST_QUESTION),
            answer,
            sanitised(opinion.comment, _LONGEST_COMMENT),
            *(one_line(url, _LONGEST_ADDRESS) for url in given),
        )
    ]
    question, kept, comment, *urls = (part.text for part in parts)
    down = opinion.rating is Rating.DOWN
    feedback = Feedback(
        result_id=_name_of(about, opinion.result_id),
        author=author.name,
        rating=opinion.rating,
        reason=opinion.reason if down else "",
        question=question,
        answer=kept,
        comment=comment,
        source_urls=tuple(urls),
        verified_id=(about.lookup.verified_id or "") if about.lookup else "",
    )
    return Told(
        feedback=feedback,
        vector=await _vector(questions, question),
        addresses=tuple(given),
        redacted=sum(sum(part.counts.values()) for part in parts[1:]),
        warns=may_warn(question, opinion.comment, urls),
        whole=len(opinion.answer.strip()) <= LONGEST_ANSWER,
    )


def may_warn(question: str, comment: str, urls: Sequence[str]) -> bool:
    """Whether a complaint may be shown to agents: nothing in it looks like an attempt to instruct them."""
    return not screen("\n".join((question, comment, *urls))).suspicious


async def _vector(questions: Questions, question: str) -> npt.NDArray[np.float32] | None:
    try:
        return (await questions.vectors([question]))[0]
    except ProviderError:
        return None


def _name_of(about: Rated, result_id: str) -> str:
    """One name for a serving and the search that it came with, so that a second verdict replaces the first."""
    if about.lookup is not None and about.lookup.search_id:
        return about.lookup.search_id
    return about.web.id if about.web is not None else storable(result_id.strip())[:LONGEST_ID]
