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
from typing import Annotated, Literal

import platformdirs
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from harry_mcp.errors import SettingsError
from harry_mcp.settings.agent import AgentSection
from harry_mcp.settings.authorizing import AuthSection
from harry_mcp.settings.claiming import ClaimSection
from harry_mcp.settings.correcting import CorrectSection
from harry_mcp.settings.crawling import CrawlSection
from harry_mcp.settings.curating import CurateSection
from harry_mcp.settings.environment import child_environment, forbid_telemetry, user_name
from harry_mcp.settings.faults import fault
from harry_mcp.settings.notifying import DigestSection, MailSection
from harry_mcp.settings.reviewing import ReviewSection
from harry_mcp.settings.scheduling import JobsSection
from harry_mcp.settings.searching import RankSection, ReplySection, RetrieveSection, SearchSection
from harry_mcp.settings.section import Section
from harry_mcp.settings.serving import HttpSection
from harry_mcp.settings.storing import DatabaseSection, EmbeddingSection, IngestSection, database_address
from harry_mcp.settings.vectors import VectorsSection
from harry_mcp.settings.vendors import ClaudeSection, VoyageSection
from harry_mcp.settings.verifying import VerifySection
from harry_mcp.settings.web import WebSection

PREFIX = "HARRY_"
_NESTED = "__"
# Fields that have the name their vendor gives them, without our prefix.
KEYS = ("ANTHROPIC_API_KEY", "VOYAGE_API_KEY", "TAVILY_API_KEY")


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class Settings(BaseSettings):
    """Everything that can be set. Build it with :func:`load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter=_NESTED,
        frozen=True,
        extra="forbid",
        env_ignore_empty=True,
        hide_input_in_errors=True,  # tracebacks would show passwords
    )

    database_url: Annotated[SecretStr, AfterValidator(database_address)] = Field(
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
    role: Annotated[Literal["reader", "contributor", "curator", "admin"], BeforeValidator(_lower)] = Field(
        default="admin",
        description="What whoever uses the server over standard input and output may do. It is the user's own machine; "
        "lower it where an agent should not curate.",
    )
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], BeforeValidator(_upper)] = Field(
        default="WARNING", description="What is written to stderr."
    )
    anthropic_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias="ANTHROPIC_API_KEY",
        description="The key of Anthropic's API. Empty: contexts are made from a template.",
    )
    voyage_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias="VOYAGE_API_KEY",
        description="The key of Voyage AI's API. Empty: the local model embeds.",
    )
    tavily_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias="TAVILY_API_KEY",
        description="The key of Tavily's API. Empty: web_fallback says that it is not configured.",
    )
    database: DatabaseSection = DatabaseSection()
    embedding: EmbeddingSection = EmbeddingSection()
    ingest: IngestSection = IngestSection()
    crawl: CrawlSection = CrawlSection()
    claude: ClaudeSection = ClaudeSection()
    voyage: VoyageSection = VoyageSection()
    search: SearchSection = SearchSection()
    retrieve: RetrieveSection = RetrieveSection()
    vectors: VectorsSection = VectorsSection()
    rank: RankSection = RankSection()
    verify: VerifySection = VerifySection()
    correct: CorrectSection = CorrectSection()
    claim: ClaimSection = ClaimSection()
    curate: CurateSection = CurateSection()
    review: ReviewSection = ReviewSection()
    jobs: JobsSection = JobsSection()
    digest: DigestSection = DigestSection()
    mail: MailSection = MailSection()
    reply: ReplySection = ReplySection()
    http: HttpSection = HttpSection()
    auth: AuthSection = AuthSection()
    web: WebSection = WebSection()
    agent: AgentSection = AgentSection()


def setting_names() -> dict[str, str]:
    """Every ``HARRY_`` name that may be set, with its description."""
    names: dict[str, str] = {}
    for name, info in Settings.model_fields.items():
        if info.validation_alias in KEYS:
            continue
        section = info.annotation
        if isinstance(section, type) and issubclass(section, Section):
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
        raise SettingsError(fault(error, Settings, prefix=PREFIX, nested=_NESTED)) from error
    if settings.rank.moderate > settings.rank.strong:
        raise SettingsError("HARRY_RANK__MODERATE is above HARRY_RANK__STRONG; the bands would overlap.")
    if settings.ingest.chunk_maximum < settings.ingest.chunk_characters:
        raise SettingsError("HARRY_INGEST__CHUNK_MAXIMUM is under HARRY_INGEST__CHUNK_CHARACTERS; raise it.")
    if settings.mail.security == "none" and settings.mail.password.get_secret_value():
        raise SettingsError("HARRY_MAIL__PASSWORD would be sent in the clear. Set HARRY_MAIL__SECURITY to starttls.")
    if settings.vectors.index == "qdrant" and bool(settings.vectors.qdrant_url) == bool(settings.vectors.qdrant_path):
        raise SettingsError(
            "HARRY_VECTORS__INDEX is qdrant. Set either HARRY_VECTORS__QDRANT_URL, or HARRY_VECTORS__QDRANT_PATH for "
            "its local mode."
        )
    return settings


def _nested(env: Mapping[str, str]) -> dict[str, object]:
    """The given mapping in the shape that pydantic reads, for callers that bring their own environment."""
    tree: dict[str, object] = {}
    for name, value in env.items():
        if name in KEYS and value:
            tree[name] = value
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


__all__ = [
    "KEYS",
    "PREFIX",
    "AgentSection",
    "AuthSection",
    "ClaimSection",
    "ClaudeSection",
    "CorrectSection",
    "CrawlSection",
    "CurateSection",
    "DatabaseSection",
    "DigestSection",
    "EmbeddingSection",
    "HttpSection",
    "IngestSection",
    "JobsSection",
    "MailSection",
    "RankSection",
    "ReplySection",
    "RetrieveSection",
    "ReviewSection",
    "SearchSection",
    "Settings",
    "VectorsSection",
    "VerifySection",
    "VoyageSection",
    "WebSection",
    "child_environment",
    "forbid_telemetry",
    "load_settings",
    "setting_names",
    "user_name",
]
