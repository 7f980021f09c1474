"""Questions as all flows see them: without fluff, and embedded exactly as a search embeds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harry_mcp.domain.plain import sanitised
from harry_mcp.domain.verified import LONGEST_QUESTION
from harry_mcp.ports import Embedder, Vectors
from harry_mcp.profile import DomainProfile
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.stages.retrieve.query import bare, optimize


class Questions:
    """Embeds questions for the memories, so that a remembered one and a new one compare."""

    def __init__(self, embedder: Embedder, profile: DomainProfile, settings: Settings) -> None:
        self._embedder = embedder
        self._glossary = profile.glossary
        self._limit = settings.retrieve.query_characters

    async def vectors(self, questions: Sequence[str]) -> Vectors:
        """The vectors of questions, shape ``(len(questions), dimension)``.

        Raises:
            ProviderError: the model failed.
        """
        if not questions:
            return np.zeros((0, self._embedder.space.dimension), np.float32)
        texts = [optimize(question, self._glossary, self._limit).text for question in questions]
        return await self._embedder.embed_queries(texts)

    @staticmethod
    def kept(question: str) -> str:
        """The question as it is kept beside what was said of an answer: bare, bounded, and without anything private."""
        return redact(sanitised(bare(question), LONGEST_QUESTION)).text

    @staticmethod
    def bare(question: str) -> str:
        """The question without greetings and thanks, as it is stored and compared."""
        return bare(question)
