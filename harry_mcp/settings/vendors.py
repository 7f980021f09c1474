"""The services that need a key."""

from __future__ import annotations

from pydantic import Field

from harry_mcp.settings.section import Section

_FAILURES = Field(
    default=5,
    ge=1,
    le=1000,
    description="Calls in a row that fail or are late until the service is left alone for a while. Fewer give up on a "
    "hiccup; with more, more searches wait for a service that is down.",
)
_PAUSE = Field(
    default=30.0,
    gt=0,
    description="Seconds that a failing service is left alone before one call tries it again. Longer does without it "
    "for longer when it is back.",
)
_REFUSED_PAUSE = Field(
    default=300.0,
    gt=0,
    description="Seconds that a service is left alone when it refused the key or the model. Fewer ask in vain.",
)


class ClaudeSection(Section):
    """Claude through Anthropic's API, with ANTHROPIC_API_KEY. Prices are dollars for a million tokens."""

    model: str = Field(
        default="claude-haiku-5-5",
        min_length=1,
        description="The small model: it situates passages, writes hypothetical answers, rewrites questions, re-ranks "
        "and grades. Another one makes the contexts anew at the next ingest and needs a calibration of its own; set "
        "its prices too, or estimates are wrong.",
    )
    base_url: str = Field(
        default="https://api.anthropic.com",
        pattern=r"^https?://",
        description="Where the API is. A gateway of your own sees every document and every question.",
    )
    timeout: float = Field(
        default=60.0, gt=0, description="Seconds for one attempt. Too few and long documents never get a context."
    )
    retries: int = Field(
        default=3, ge=0, le=10, description="Attempts after the first on 429, 5xx and a lost connection."
    )
    patience: float = Field(
        default=180.0,
        gt=0,
        description="Seconds for one answer with all retries where no search waits for it, and the longest Retry-After "
        "that is waited for.",
    )
    failures: int = _FAILURES
    pause: float = _PAUSE
    refused_pause: float = _REFUSED_PAUSE
    concurrency: int = Field(
        default=4, ge=1, le=64, description="Questions at a time. More meets the rate limit of the account."
    )
    context_characters: int = Field(
        default=300,
        ge=80,
        le=2000,
        description="Longest context. More pushes the passage out of the 1,000 characters that the local model reads.",
    )
    document_characters: int = Field(
        default=250_000,
        ge=4000,
        description="Longest part of a document in one prompt. Over 100,000 tokens Haiku costs five times as much.",
    )
    cache_minimum: int = Field(
        default=512, ge=0, description="Tokens under which the API caches no prompt, for estimates; 4096 in Haiku 4.5."
    )
    price_input: float = Field(default=0.10, ge=0, description="Price of input. Estimates and the limit rest on it.")
    price_cache_write: float = Field(default=0.125, ge=0, description="Price of input that is written to the cache.")
    price_cache_read: float = Field(default=0.01, ge=0, description="Price of input that is read from the cache.")
    price_output: float = Field(default=0.50, ge=0, description="Price of output. Estimates rest on it.")
    prices_of: str = Field(
        default="2026-10-07", description="The day these prices are of; estimates name it. Change it with them."
    )


class VoyageSection(Section):
    """Embeddings and re-ranking of Voyage AI, with VOYAGE_API_KEY. Prices are dollars for a million tokens."""

    model: str = Field(
        default="voyage-3.5",
        min_length=1,
        description="The embedding model; `voyage-context-3` embeds each passage with the others of its document. "
        "Another one needs `harry reembed`, which embeds everything anew and costs; set the price too.",
    )
    dimension: int = Field(
        default=1024,
        ge=64,
        le=2000,
        description="Numbers in a vector, of those that the model offers. Fewer find worse; changing it needs "
        "`harry reembed`.",
    )
    base_url: str = Field(
        default="https://api.voyageai.com/v1",
        pattern=r"^https?://",
        description="Where the API is. A gateway of your own sees every passage and every question.",
    )
    timeout: float = Field(default=30.0, gt=0, description="Seconds for one attempt. Too few lose large batches.")
    retries: int = Field(
        default=4, ge=0, le=10, description="Attempts after the first on 429, 5xx and a lost connection."
    )
    patience: float = Field(
        default=120.0,
        gt=0,
        description="Seconds for one batch with all retries where no search waits for it, and the longest Retry-After "
        "that is waited for.",
    )
    failures: int = _FAILURES
    pause: float = _PAUSE
    refused_pause: float = _REFUSED_PAUSE
    batch: int = Field(
        default=128, ge=1, le=1000, description="Passages in one request. The API refuses more than 1,000."
    )
    price: float = Field(
        default=0.06, ge=0, description="Dollars for a million tokens. What is asked before a large run rests on it."
    )
    rerank_model: str = Field(
        default="rerank-2.5-lite",
        min_length=1,
        description="The re-ranking model, where HARRY_RANK__RERANKER is voyage; `rerank-2.5` is better and slower. "
        "Another one needs a calibration of its own; set its price too.",
    )
    rerank_price: float = Field(
        default=0.02, ge=0, description="Dollars for a million tokens of re-ranking. The cost counters rest on it."
    )
