"""Query embeddings kept in memory: the same question, however spaced, is embedded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import numpy.typing as npt

from harry_mcp.ports import Vectors


class QueryCache:
    """The vectors of the questions asked last. One of size 0 keeps none."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()

    async def through(self, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[Vectors]]) -> Vectors:
        """The vectors of ``texts``; those that are not here come from one call of ``embed``, or none.

        ``texts`` must not be empty. ``embed`` gets each text once, its white space made single.
        """
        keys = [" ".join(text.split()) for text in texts]
        known = {key: vector for key in keys if (vector := self._get(key)) is not None}
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        if missing:
            for key, vector in zip(missing, await embed(missing), strict=True):
                known[key] = vector
                self._put(key, vector)
        return np.stack([known[key] for key in keys])

    def _get(self, query: str) -> npt.NDArray[np.float32] | None:
        vector = self._vectors.get(query)
        if vector is not None:
            self._vectors.move_to_end(query)
        return vector

    def _put(self, query: str, vector: npt.NDArray[np.float32]) -> None:
        if self._size:
            self._vectors[query] = vector
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
