"""Which provider serves which port, from the settings. SDKs are imported when they are first used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import ProviderNotConfigured
from harry_mcp.ports import Embedder, Vectors
from harry_mcp.providers.anthropic import Claude
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.providers.voyage import VoyageEmbedder
from harry_mcp.providers.voyage_context import VoyageContextEmbedder
from harry_mcp.settings import Settings


def build_embedder(settings: Settings) -> LocalEmbedder | VoyageEmbedder:
    """The embedding model that the settings name."""
    has_key = bool(settings.voyage_api_key.get_secret_value())
    provider = settings.embedding.provider
    return _voyage(settings) if provider == "voyage" or (provider == "auto" and has_key) else _local(settings)


def _local(settings: Settings) -> LocalEmbedder:
    section = settings.embedding
    return LocalEmbedder(threads=section.threads, batch_tokens=section.batch_tokens, query_cache=section.query_cache)


def _voyage(settings: Settings) -> VoyageEmbedder:
    key = settings.voyage_api_key.get_secret_value()
    kind = VoyageContextEmbedder if settings.voyage.model.startswith("voyage-context") else VoyageEmbedder
    return kind(key, settings.voyage, query_cache=settings.embedding.query_cache)


def build_claude(settings: Settings) -> Claude | None:
    """Claude for the contexts of passages, where the settings and a key allow it; else the template serves.

    Raises:
        ProviderNotConfigured: the settings demand Claude, and there is no key.
    """
    key = settings.anthropic_api_key.get_secret_value()
    if settings.ingest.context == "template" or (settings.ingest.context == "auto" and not key):
        return None
    if not key:
        raise ProviderNotConfigured(
            "HARRY_INGEST__CONTEXT is claude, but there is no ANTHROPIC_API_KEY. Set the key, or take `template`."
        )
    return Claude(key, settings.claude)


def embedder_for(settings: Settings, space: EmbeddingSpace) -> Embedder:
    """The model of a space, for going back to it. One that this harry does not have fails when it is used."""
    for embedder in (_local(settings), _voyage(settings)):
        if embedder.space == space:
            return embedder
    return _Absent(space)


class _Absent:
    """The model of a space that cannot be used here. Switching to its vectors needs it only when some lack."""

    def __init__(self, space: EmbeddingSpace) -> None:
        self.space = space

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise ProviderNotConfigured(f"This harry has no {self.space}, and some passages have no vector of it yet.")

    async def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        raise ProviderNotConfigured(f"This harry has no {self.space}.")
