"""Where the nearest vectors are looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from harry_mcp.settings.section import Section


class VectorsSection(Section):
    """The index of the vectors. PostgreSQL keeps them all in any case; Qdrant searches copies of them."""

    index: Literal["pgvector", "qdrant"] = Field(
        default="pgvector",
        description="Who searches the vectors: PostgreSQL, or a Qdrant beside it where one PostgreSQL is outgrown. "
        "Set it alike for every process. After going back to pgvector run `harry vectors off`, or changes for Qdrant "
        "are written down for ever.",
    )
    qdrant_url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="Where Qdrant is, as http://host:6333. Whoever reads it there reads vectors, from which much of a "
        "text can be told.",
    )
    qdrant_api_key: SecretStr = Field(
        default=SecretStr(""),
        description="The key of Qdrant. With an http address it travels in the clear: only in a network of your own.",
    )
    qdrant_path: Path | None = Field(
        default=None,
        description="A folder for Qdrant's local mode instead of an address, to try it without a server. One process "
        "only: a second one is refused.",
    )
    collection_prefix: str = Field(
        default="harry",
        pattern=r"^[A-Za-z0-9_-]{1,40}$",
        description="How the names of the collections begin. Give a copy of a database that shares the Qdrant another "
        "one and run `harry vectors rebuild` there before anything else, or the two overwrite each other.",
    )
    budget: float = Field(
        default=1.0,
        gt=0,
        le=30,
        description="Seconds for Qdrant's answer to a search. Beyond it the search goes on with keywords alone.",
    )
    patience: float = Field(
        default=15.0,
        gt=0,
        description="Seconds for one batch that is written to Qdrant, with all retries. Too few and a busy Qdrant "
        "falls behind.",
    )
    retries: int = Field(
        default=1, ge=0, le=10, description="Attempts after the first on 429, 5xx and a lost connection."
    )
    batch: int = Field(
        default=128, ge=1, le=1000, description="Vectors in one write. Qdrant refuses requests over 32 MB."
    )
    backlog: int = Field(
        default=1000,
        ge=0,
        le=100_000,
        description="Changes that Qdrant does not know yet and a search still takes into account, from PostgreSQL; "
        "beyond them the search says `vectors_behind`. More make searches slower while Qdrant lags.",
    )
    exact: bool = Field(
        default=False,
        description="Whether Qdrant compares every vector instead of using its graph. Exact, and slow on a large "
        "knowledge base.",
    )
    failures: int = Field(
        default=3,
        ge=1,
        le=1000,
        description="Calls in a row that fail or are late until Qdrant is left alone for a while. With more, more "
        "searches wait for one that is down.",
    )
    pause: float = Field(
        default=10.0,
        gt=0,
        description="Seconds that a failing Qdrant is left alone before one call tries it again. Longer searches by "
        "keywords alone for longer when it is back.",
    )
    refused_pause: float = Field(
        default=60.0, gt=0, description="Seconds that Qdrant is left alone when it refused the key. Fewer ask in vain."
    )
