"""All settings, in frozen sections, read once from the environment (prefix ``HARRY_``).

A top-level field is ``HARRY_DATABASE_URL``; a field of a section is ``HARRY_RETRIEVE__K``. Unknown names are
refused, so that a typing error is seen at the start and not in a month. Every threshold stands here and
nowhere else; its description says what breaks when it is wrong.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from harry_mcp.errors import SettingsError

PREFIX = "HARRY_"
_NESTED = "__"

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatabaseSection(_Section):
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


class EmbeddingSection(_Section):
    """The local embedding model."""

    threads: int = Field(
        default=0, ge=0, description="Threads of the model. 0 takes the machine's cores, four at most."
    )
    batch_tokens: Positive = Field(
        default=1024, description="Word pieces in one batch of the model. More needs more memory and is not faster."
    )
    query_cache: int = Field(
        default=2048, ge=0, description="Query embeddings kept in memory. 0 embeds every query anew."
    )


class IngestSection(_Section):
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
    file_bytes: Positive = Field(default=20_000_000, description="A larger file or page is refused, with its name.")


class RetrieveSection(_Section):
    """Stage 1: which passages are looked at."""

    k: int = Field(default=5, ge=1, le=50, description="Hits in an answer when the caller names no number.")
    leg_candidates: int = Field(
        default=50,
        ge=10,
        le=500,
        description="Passages each leg, keyword and vector, hands on. Fewer lose right answers.",
    )
    vector_floor: Fraction = Field(
        default=0.45, description="Cosine under which the vector leg finds nothing. Higher loses paraphrases."
    )
    vector_at_least: int = Field(
        default=5,
        ge=0,
        description="Nearest passages that the floor never takes away. With 0, short questions lose right answers.",
    )
    rrf_k: Positive = Field(
        default=60, description="The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."
    )
    query_characters: int = Field(
        default=400, ge=50, le=2000, description="Longer questions are cut at a word; the model reads no more."
    )
    near_duplicate: Fraction = Field(
        default=0.9,
        description="Share of common words from which two passages count as one. Lower hides real variants.",
    )


class RankSection(_Section):
    """Stage 2: what a score means."""

    candidates: int = Field(default=20, ge=5, le=100, description="Passages that are ranked and may become hits.")
    strong: Fraction = Field(
        default=0.60,
        description="From here the agent answers from the knowledge base. Lower lets wrong answers through.",
    )
    moderate: Fraction = Field(
        default=0.45, description="From here the passages are worth weighing; under it the agent goes to the web."
    )


class ReplySection(_Section):
    """How large an answer may be. Hosts cut replies off at about 25,000 tokens, some far earlier."""

    text_characters: int = Field(
        default=20_000, ge=2000, le=100_000, description="Characters of passages in one reply, about 6,000 tokens."
    )
    document_characters: int = Field(
        default=16_000, ge=1000, le=100_000, description="Characters of one page of `read_document`."
    )
    question_characters: int = Field(
        default=8_000, ge=400, le=100_000, description="A longer question is refused with advice, not cut in silence."
    )


class Settings(BaseSettings):
    """Everything that can be set. Build it with :func:`load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter=_NESTED, frozen=True, extra="forbid", env_ignore_empty=True
    )

    database_url: SecretStr = Field(
        default=SecretStr(""),
        description="A PostgreSQL with pgvector, as a libpq URL. Empty: the server runs its own.",
    )
    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("harry-mcp", appauthor=False)),
        description="Where the embedded PostgreSQL keeps its files.",
    )
    profile: Path | None = Field(
        default=None,
        description="The domain profile, a TOML file: subject, web allow-list, glossary, topics, answer style.",
    )
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)] = Field(
        default="WARNING", description="What is written to stderr."
    )
    database: DatabaseSection = DatabaseSection()
    embedding: EmbeddingSection = EmbeddingSection()
    ingest: IngestSection = IngestSection()
    retrieve: RetrieveSection = RetrieveSection()
    rank: RankSection = RankSection()
    reply: ReplySection = ReplySection()


def setting_names() -> dict[str, str]:
    """Every environment name that may be set, with its description."""
    names: dict[str, str] = {}
    for name, info in Settings.model_fields.items():
        section = info.annotation
        if isinstance(section, type) and issubclass(section, _Section):
            for inner, inner_info in section.model_fields.items():
                names[f"{PREFIX}{name}{_NESTED}{inner}".upper()] = inner_info.description or ""
        else:
            names[f"{PREFIX}{name}".upper()] = info.description or ""
    return names


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from the environment.

    Raises:
        SettingsError: an unknown ``HARRY_`` name, or a value that does not fit; the message names it.
    """
    env = os.environ if environ is None else environ
    known = setting_names()
    for name in sorted(env):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            close = difflib.get_close_matches(name.upper(), known, n=1)
            hint = f" Did you mean {close[0]}?" if close else " The README lists every setting."
            raise SettingsError(f"There is no setting {name}.{hint}")
    try:
        settings = Settings() if environ is None else Settings.model_validate(_nested(env))
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + _NESTED.join(str(part) for part in first["loc"]).upper()
        raise SettingsError(f"{name} cannot be used: {first['msg']}. {known.get(name, '')}".strip()) from error
    if settings.rank.moderate > settings.rank.strong:
        raise SettingsError("HARRY_RANK__MODERATE is above HARRY_RANK__STRONG; the bands would overlap.")
    if settings.ingest.chunk_maximum < settings.ingest.chunk_characters:
        raise SettingsError("HARRY_INGEST__CHUNK_MAXIMUM is under HARRY_INGEST__CHUNK_CHARACTERS; raise it.")
    return settings


def _nested(env: Mapping[str, str]) -> dict[str, object]:
    """The given mapping in the shape that pydantic reads, for callers that bring their own environment."""
    tree: dict[str, object] = {}
    for name, value in env.items():
        if not name.upper().startswith(PREFIX) or not value:
            continue
        path = name[len(PREFIX) :].lower().split(_NESTED)
        if len(path) == 1:
            tree[path[0]] = value
        else:
            section = tree.setdefault(path[0], {})
            if isinstance(section, dict):
                section[path[1]] = value
    return tree


def environment(name: str, default: str = "") -> str:
    """One foreign variable of the environment, for the few places that must look at one."""
    return os.environ.get(name, default)


def forbid_telemetry() -> None:
    """Keep onnxruntime from writing a device id under HOME and sending events: it reads this when it is imported."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def child_environment(**changes: str) -> dict[str, str]:
    """This process's environment with changes, for a subprocess."""
    return {**os.environ, **changes}


LOG_LEVELS = get_args(Settings.model_fields["log_level"].annotation)
