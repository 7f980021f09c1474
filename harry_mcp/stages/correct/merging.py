"""COR-2: whether two lessons are one. What would be lost by counting one for the other keeps them apart."""

from __future__ import annotations

from harry_mcp.domain.corrections import Correction, Lesson
from harry_mcp.domain.differences import Vocabulary, differences, mergeable


def same_lesson(lesson: Lesson, other: Correction, cosine: float, floor: float, vocabulary: Vocabulary) -> bool:
    """Whether two lessons of one topic say the same: nothing in them differs that could matter.

    A lesson that calls true what the other calls wrong corrects it, however much it resembles it.
    """
    if lesson.topic.casefold() != other.topic.casefold():
        return False

    def alike(one: str, another: str) -> bool:
        return not differences(one, another, vocabulary=vocabulary)

    if alike(lesson.truth, other.wrong) or alike(lesson.wrong, other.truth):
        return False
    return (
        mergeable(lesson.line, other.lesson, cosine, floor=floor, vocabulary=vocabulary)
        and not differences(lesson.truth, other.truth, vocabulary=vocabulary).blocking
    )
