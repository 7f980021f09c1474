"""Which provider serves which port, from the settings. SDKs are imported when they are first used.

Every builder takes the :class:`UsageMeter` of the app, so that all costs are in one place.
"""

from __future__ import annotations

from collections.abc import Sequence

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import ProviderNotConfigured
from harry_mcp.ports import Embedder, LanguageModel, Vectors
from harry_mcp.providers.anthropic import Claude
from harry_mcp.providers.claude_chat import ClaudeChat
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.providers.model_reranker import ModelReranker
from harry_mcp.providers.qdrant import QdrantStore
from harry_mcp.providers.smtp import SmtpNotifier
from harry_mcp.providers.tavily import TavilySearch
from harry_mcp.providers.usage import ModelPrices, UsageMeter
from harry_mcp.providers.voyage import VoyageEmbedder
from harry_mcp.providers.voyage_context import VoyageContextEmbedder
from harry_mcp.providers.voyage_rerank import VoyageReranker
from harry_mcp.settings import Settings


def build_embedder(settings: Settings, usage: UsageMeter | None = None) -> LocalEmbedder | VoyageEmbedder:
    """The embedding model that the settings name."""
    has_key = bool(settings.voyage_api_key.get_secret_value())
    provider = settings.embedding.provider
    by_voyage = provider == "voyage" or (provider == "auto" and has_key)
    return _voyage(settings, usage) if by_voyage else _local(settings)


def _local(settings: Settings) -> LocalEmbedder:
    section = settings.embedding
    return LocalEmbedder(threads=section.threads, batch_tokens=section.batch_tokens, query_cache=section.query_cache)


def _voyage(settings: Settings, usage: UsageMeter | None = None) -> VoyageEmbedder:
    key = settings.voyage_api_key.get_secret_value()
    kind = VoyageContextEmbedder if settings.voyage.model.startswith("voyage-context") else VoyageEmbedder
    return kind(key, settings.voyage, query_cache=settings.embedding.query_cache, usage=usage)


def build_language_model(settings: Settings, usage: UsageMeter | None = None) -> Claude | None:
    """Claude for what a search asks of a model, None without a key."""
    key = settings.anthropic_api_key.get_secret_value()
    return Claude(key, settings.claude, usage) if key else None


def build_claude(settings: Settings, model: Claude | None = None, usage: UsageMeter | None = None) -> Claude | None:
    """Claude for the contexts of passages, where the settings and a key allow it; else the template serves.

    ``model``, where the app has one already, is used for them too, with its connections and its breaker.

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
    return model or Claude(key, settings.claude, usage)


def build_chat_models(settings: Settings, usage: UsageMeter) -> tuple[ClaudeChat, ClaudeChat] | None:
    """The model that writes answers and the one that writes those about code; None without a key."""
    key, s = settings.anthropic_api_key.get_secret_value(), settings.agent
    if not key:
        return None
    usual = ModelPrices(s.price_input, s.price_cache_write, s.price_cache_read, s.price_output)
    code = ModelPrices(s.code_price_input, s.code_price_cache_write, s.code_price_cache_read, s.code_price_output)

    def chat(model: str, prices: ModelPrices, setting: str) -> ClaudeChat:
        return ClaudeChat(
            key,
            settings.claude,
            model=model,
            setting=setting,
            prices=prices,
            effort=s.effort,
            most_tokens=s.max_tokens,
            usage=usage,
        )

    first = chat(s.model, usual, "HARRY_AGENT__MODEL")
    return first, first if s.code_model == s.model else chat(s.code_model, code, "HARRY_AGENT__CODE_MODEL")


def build_reranker(
    settings: Settings, model: LanguageModel | None, usage: UsageMeter | None = None
) -> ModelReranker | VoyageReranker | None:
    """The model that reads the question with each passage; None where the local ranker scores.

    Raises:
        ProviderNotConfigured: the settings demand a service, and there is no key for it.
    """
    match settings.rank.reranker:
        case "local":
            return None
        case "auto":
            return ModelReranker(model) if model else None
        case "claude":
            if model is None:
                raise _no_key("claude", "ANTHROPIC_API_KEY")
            return ModelReranker(model)
        case "voyage":
            key = settings.voyage_api_key.get_secret_value()
            if not key:
                raise _no_key("voyage", "VOYAGE_API_KEY")
            return VoyageReranker(key, settings.voyage, usage=usage)


def build_web_search(settings: Settings, usage: UsageMeter | None = None) -> TavilySearch | None:
    """The search engine of web_fallback, None without a key."""
    key = settings.tavily_api_key.get_secret_value()
    return TavilySearch(key, settings.web, usage) if key else None


def build_notifier(settings: Settings) -> SmtpNotifier | None:
    """The mail server, None where the settings name none or nobody to write to."""
    return SmtpNotifier(settings.mail) if settings.mail.configured else None


def build_vector_store(settings: Settings) -> QdrantStore | None:
    """The service that searches copies of the vectors, None where PostgreSQL does it."""
    if settings.vectors.index != "qdrant":
        return None
    return QdrantStore(settings.vectors, reach=2 * settings.retrieve.leg_candidates)


def _no_key(chosen: str, key: str) -> ProviderNotConfigured:
    return ProviderNotConfigured(
        f"HARRY_RANK__RERANKER is {chosen}, but there is no {key}. Set the key, or take `local`."
    )


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

    async def embed_queries(self, texts: Sequence[str], *, timeout: float | None = None) -> Vectors:
        raise ProviderNotConfigured(f"This harry has no {self.space}.")
