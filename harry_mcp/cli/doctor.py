"""harry doctor: what is in use, why, and what is wrong."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp import __version__
from harry_mcp.cli.console import ExitCode, print_json, run, terminal
from harry_mcp.cli.doctor_jobs import job_findings
from harry_mcp.cli.doctor_vectors import index_finding
from harry_mcp.errors import HarryError, SettingsError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.storage.spaces import SpaceState


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report."""

    name: str
    ok: bool
    finding: str


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the report for a script.")] = False,
) -> None:
    """Check the settings, the model and the database, and say what is in use and why."""
    checks = run(_examine())
    if as_json:
        print_json({"ok": all(check.ok for check in checks), "checks": [asdict(check) for check in checks]})
    else:
        _print(checks)
    if not all(check.ok for check in checks):
        raise typer.Exit(ExitCode.FAILED)


async def _examine() -> list[Check]:
    checks = [Check("harry", True, f"{__version__} on Python {sys.version.split()[0]}, {sys.platform}")]
    try:
        settings = load_settings()
    except SettingsError as error:
        return [*checks, Check("settings", False, str(error))]
    checks.append(_profile(settings))
    checks.append(await _model(settings))
    checks.append(_contexts(settings))
    checks.append(_ranker(settings))
    checks.append(_web(settings))
    return [*checks, *await _database(settings)]


def _profile(settings: Settings) -> Check:
    from harry_mcp.profile import load_profile

    try:
        profile = load_profile(settings.profile)
    except SettingsError as error:
        return Check("profile", False, str(error))
    if settings.profile is None:
        return Check("profile", True, "none; set HARRY_PROFILE to a TOML file to name the subject and its words")
    return Check(
        "profile",
        True,
        f"{profile.subject or 'no subject'}, {len(profile.glossary)} glossary words, {settings.profile}",
    )


async def _model(settings: Settings) -> Check:
    from harry_mcp.providers.factory import build_embedder

    embedder = build_embedder(settings)
    try:
        await embedder.load()
    except HarryError as error:
        return Check("embeddings", False, str(error))
    local = embedder.space.provider == "local"
    why = "on this machine, no key needed" if local else "by VOYAGE_API_KEY; the texts go to Voyage AI"
    return Check("embeddings", True, f"{embedder.space}, {why}")


def _contexts(settings: Settings) -> Check:
    from harry_mcp.providers.factory import build_claude

    try:
        claude = build_claude(settings)
    except HarryError as error:
        return Check("contexts", False, str(error))
    if claude is None:
        why = "no ANTHROPIC_API_KEY" if settings.ingest.context == "auto" else "HARRY_INGEST__CONTEXT says so"
        return Check("contexts", True, f"from the template, title and headings, no key needed ({why})")
    return Check("contexts", True, f"by {claude.name}, ANTHROPIC_API_KEY is set; the documents go to Anthropic")


def _ranker(settings: Settings) -> Check:
    from harry_mcp.providers.factory import build_language_model, build_reranker

    try:
        reranker = build_reranker(settings, build_language_model(settings))
    except HarryError as error:
        return Check("ranker", False, str(error))
    if reranker is None:
        return Check("ranker", True, "the local calibrated ranker: cosine and BM25, no key needed")
    return Check("ranker", True, f"{reranker.name}, the local ranker where it is late; questions and passages go there")


def _web(settings: Settings) -> Check:
    from harry_mcp.domain.hosts import AllowList
    from harry_mcp.profile import load_profile

    try:
        allowed = AllowList.of(load_profile(settings.profile).allowed_domains)
    except SettingsError:
        return Check("web", True, "not looked at: the profile, which lists the hosts, cannot be read")
    if allowed.unusable:
        return Check(
            "web", False, f"allowed_domains of the profile holds what is no host: {', '.join(allowed.unusable)}"
        )
    if not settings.tavily_api_key.get_secret_value():
        return Check("web", True, "off: no TAVILY_API_KEY; web_fallback says so and logs the gap")
    if not allowed.hosts:
        return Check("web", True, "off: the profile lists no allowed_domains, and the whole web is never searched")
    return Check("web", True, f"Tavily, for {', '.join(sorted(allowed.hosts))} and their subdomains")


async def _database(settings: Settings) -> list[Check]:
    from harry_mcp.providers.factory import build_embedder
    from harry_mcp.storage.database import Database

    given = bool(settings.database_url.get_secret_value())
    where = "HARRY_DATABASE_URL" if given else f"embedded, in {settings.data_dir / 'postgres'}"
    try:
        database = await Database.open(settings, build_embedder(settings).space)
    except HarryError as error:
        return [Check("database", False, f"{where}: {error}")]
    try:
        versions = await database.versions()
        async with database.reading() as unit:
            counts = await unit.documents.counts()
            searches = await unit.searches.counts(7)
            languages = await unit.keywords.languages()
            spaces = await unit.spaces.all()
        index = Check(*await index_finding(database, settings))
        jobs = [Check(*finding) for finding in await job_findings(database, settings)]
    finally:
        await database.close()
    documents = ", ".join(f"{row.documents} {row.status}" for row in counts) or "none yet; run `harry ingest`"
    chunks = sum(row.chunks for row in counts)
    weak = f", {searches.weak} of them weak" if searches.searches else ""
    return [
        Check(
            "database",
            True,
            f"{where}: PostgreSQL {versions.postgres}, pgvector {versions.pgvector}, {versions.size}",
        ),
        Check("documents", True, f"{documents}; {chunks} chunks; languages {', '.join(languages)}"),
        Check("vectors", True, "; ".join(_space(state) for state in spaces)),
        index,
        Check("searches", True, f"{searches.searches} in 7 days{weak}"),
        *jobs,
    ]


def _space(state: SpaceState) -> str:
    use = "in use" if state.active else "not in use"
    return f"{state.space}, {use}, {state.vectors} of {state.chunks} chunks"


def _print(checks: list[Check]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), show_header=False)
    for check in checks:
        table.add_row("[green]ok[/]" if check.ok else "[red]no[/]", f"[bold]{check.name}[/]", escape(check.finding))
    terminal().print(table)
