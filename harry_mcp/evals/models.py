"""Which models take part in a measurement, and what that costs. A key alone must not make one cost money."""

from __future__ import annotations

from harry_mcp.evals.golden import GoldenSet
from harry_mcp.settings import Settings

# Characters of English a token; what one question sends beside the passages, and gets back, in tokens.
_CHARACTERS_A_TOKEN = 4
_TOKENS_ROUND_IT = 600
_TOKENS_BACK = 200
# Seconds for each part where its budget is not what is measured.
_PATIENCE = 30.0


def without_models(settings: Settings) -> Settings:
    """The same with the local ranker, template contexts and nothing rewritten. Embeddings stay what they are."""
    return settings.model_copy(
        update={
            "ingest": settings.ingest.model_copy(update={"context": "template"}),
            "rank": settings.rank.model_copy(update={"reranker": "local"}),
            "search": settings.search.model_copy(update={"hyde": "off", "rewrite_budget": 0, "corrective": False}),
        }
    )


def named_only(settings: Settings) -> Settings:
    """The same with only those models that the settings name: where they say `auto`, a key alone brings none in."""
    bare = without_models(settings)
    return bare.model_copy(
        update={
            "ingest": bare.ingest if settings.ingest.context == "auto" else settings.ingest,
            "rank": bare.rank if settings.rank.reranker == "auto" else settings.rank,
        }
    )


def patient(settings: Settings) -> Settings:
    """The same with time for every part: a slow day says nothing about what answers are worth."""
    search = settings.search
    return settings.model_copy(
        update={
            "rank": settings.rank.model_copy(update={"budget": _PATIENCE}),
            "search": search.model_copy(
                update={
                    "deadline": 60.0,
                    "embed_budget": _PATIENCE,
                    "hyde_budget": _PATIENCE,
                    "rewrite_budget": _PATIENCE if search.rewrite_budget else 0.0,
                }
            ),
        }
    )


def reader(settings: Settings) -> str:
    """Who reads the passages under these settings and keys: claude, voyage, or local for nobody."""
    if settings.rank.reranker == "auto":
        return "claude" if settings.anthropic_api_key.get_secret_value() else "local"
    return settings.rank.reranker


def asks_models(settings: Settings) -> bool:
    return reader(settings) != "local"


def dollars(settings: Settings, golden: GoldenSet) -> float:
    """About what reading the passages will cost at Claude's prices; 0 when nobody reads them.

    Voyage's re-ranker costs less, so for it this is an upper bound.
    """
    if not asks_models(settings):
        return 0.0
    passage = min(settings.rank.passage_characters, settings.ingest.chunk_maximum)
    sent = settings.rank.candidates * passage / _CHARACTERS_A_TOKEN + _TOKENS_ROUND_IT
    prices = settings.claude
    each = sent * prices.price_input + _TOKENS_BACK * prices.price_output
    return len(golden.questions) * each / 1e6
