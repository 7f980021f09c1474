"""Where documents are kept, and how they are cut and embedded."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, SecretStr

from harry_mcp.settings.section import Positive, Section

_PLACE = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::\d*)?")


def database_address(value: SecretStr) -> SecretStr:
    """The address of a PostgreSQL, if libpq cuts it where its writer meant it to be cut.

    A bare ``@`` or ``/`` in a password ends the part with the password too early. What is left of it would be taken for
    a host or a port, and stand in every error about them.

    Raises:
        ValueError: it would be cut elsewhere; nothing of it is quoted.
    """
    scheme, mark, rest = value.get_secret_value().partition("://")
    if not mark or scheme not in ("postgresql", "postgres"):
        return value
    # As libpq reads it: whatever comes before the first @, if no slash comes first, is user and password.
    before, at, behind = rest.partition("@")
    place = (behind if at and "/" not in before else rest).partition("?")[0]
    if "@" in place:
        raise ValueError(
            "an @ or a / in its password is taken for the end of it. In the password write @ as %40 and / as %2F"
        )
    if not all(_PLACE.fullmatch(each) for each in place.partition("/")[0].split(",")):
        raise ValueError(
            "what stands behind its host is no port. Write it as postgresql://user:password@host:5432/database"
        )
    return value


class DatabaseSection(Section):
    """How the process talks to PostgreSQL."""

    pool_size: Positive = Field(
        default=8,
        description="Connections a process may hold. Too few and searches wait; too many and PostgreSQL refuses.",
    )
    connect_timeout: float = Field(
        default=10.0, gt=0, description="Seconds to wait for a connection before the database is called unavailable."
    )
    statement_timeout: float = Field(
        default=15.0, gt=0, description="Seconds after which PostgreSQL ends one statement of a search."
    )


class EmbeddingSection(Section):
    """The embedding model, and how the local one runs."""

    provider: Literal["auto", "local", "voyage"] = Field(
        default="auto",
        description="`auto` is Voyage where there is VOYAGE_API_KEY, else the local model. Another one than the "
        "knowledge base was built with is refused until `harry reembed` has moved it.",
    )

    threads: int = Field(
        default=0, ge=0, description="Threads of the model. 0 takes the machine's cores, four at most."
    )
    batch_tokens: Positive = Field(
        default=256,
        description="Word pieces in one batch of the model. More needs more memory and is slower: it leaves the "
        "processor's cache.",
    )
    query_cache: int = Field(
        default=2048, ge=0, description="Query embeddings kept in memory. 0 embeds every query anew."
    )


class IngestSection(Section):
    """How documents are cut."""

    chunk_characters: int = Field(
        default=900,
        ge=200,
        le=8000,
        description="Aimed-at size of a chunk. The local model reads about 1,000 characters of it.",
    )
    chunk_minimum: int = Field(
        default=120,
        ge=0,
        description="Sections shorter than this are joined with their neighbours under the same heading.",
    )
    chunk_maximum: int = Field(
        default=1400, ge=200, le=16000, description="A code block or table up to this size is never cut."
    )
    file_bytes: Positive = Field(
        default=20_000_000, description="A larger file or page is refused, with its name: it is held in memory."
    )
    pdf_bytes: Positive = Field(
        default=500_000_000,
        description="A larger PDF is refused. PDFs are read page by page from the disk, so this bounds time and not "
        "memory.",
    )
    local_paths: bool = Field(
        default=True,
        description="Whether `ingest_source` reads files of the server's machine. Set it to false where the people "
        "who ask are not those who own the machine, or they read its files.",
    )
    private_addresses: bool = Field(
        default=False,
        description="Whether private and local addresses are read by `ingest_source`, `harry ingest` and `harry crawl` "
        "and asked by the check for dead sources. With true, who can call the tool reads what only the server's "
        "machine can reach; with false, pages that `--allow-private` let in are never checked.",
    )
    at_once: int = Field(
        default=2,
        ge=1,
        le=16,
        description="Ingestions of `ingest_source` that a server works on at a time; others wait. More slow down "
        "searches, and one another.",
    )
    chunking: Literal["heading", "semantic"] = Field(
        default="heading",
        description="`semantic` also cuts where the subject changes, for long texts without headings. It embeds every "
        "sentence twice more, so ingestion takes about three times as long.",
    )
    semantic_percentile: float = Field(
        default=95.0,
        gt=0,
        le=100,
        description="Share of the places between sentences, in percent, that are too alike to cut. Lower makes more, "
        "smaller chunks that lose their context.",
    )
    semantic_neighbours: int = Field(
        default=1,
        ge=0,
        le=10,
        description="Sentences that a sentence is embedded with. With 0, short sentences cut where nothing changes.",
    )
    context: Literal["auto", "template", "claude"] = Field(
        default="auto",
        description="What situates a passage: a sentence by Claude, or title and headings alone. `auto` is Claude "
        "where there is ANTHROPIC_API_KEY. Another choice makes the contexts anew at the next ingest, which costs.",
    )
    ask_above: float = Field(
        default=1.0,
        ge=0,
        description="Dollars from which `harry ingest`, `harry crawl` and `harry reembed` ask first, or need --yes "
        "without a terminal. Where nobody was asked, in a server or a crawl that was judged to be cheap, contexts cost "
        "no more in its life and then come from the template. Too high and a wrong folder costs real money.",
    )
