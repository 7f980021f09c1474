"""The vectors by which corrections are found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.corrections import Correction, Lesson
from harry_mcp.ports import Embedder


async def lesson_vectors(
    embedder: Embedder, lessons: Sequence[Lesson] | Sequence[Correction]
) -> list[npt.NDArray[np.float32]]:
    """The vector of each correction: the mean of its faces, of unit length.

    Raises:
        ProviderError: the model failed.
    """
    faces = [lesson.faces for lesson in lessons]
    vectors = await embedder.embed_documents([text for texts in faces for text in texts])
    ends = np.cumsum([len(texts) for texts in faces])
    return [_unit(part.mean(axis=0)) for part in np.split(vectors, ends[:-1])] if faces else []


def _unit(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
