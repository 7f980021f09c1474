"""Query embeddings kept in memory: the same question, however spaced, is embedded once."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import numpy.typing as npt


class QueryCache:
    """The vectors of the questions asked last. One of size 0 keeps none."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()

    def get(self, query: str) -> npt.NDArray[np.float32] | None:
        vector = self._vectors.get(query)
        if vector is not None:
            self._vectors.move_to_end(query)
        return vector

    def put(self, query: str, vector: npt.NDArray[np.float32]) -> None:
        if self._size:
            self._vectors[query] = vector
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
