"""harry doctor: what is in use, why, and what is wrong."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp import __version__
from harry_mcp.cli.console import print_json, run, terminal
from harry_mcp.cli.doctor_access import access, disk
from harry_mcp.cli.doctor_check import Check
from harry_mcp.cli.doctor_jobs import job_checks
from harry_mcp.cli.doctor_vectors import index_check
from harry_mcp.cli.ends import ExitCode
from harry_mcp.errors import HarryError, SettingsError
from harry_mcp.settings import Settings, load_settings

if TYPE_CHECKING:
    from harry_mcp.storage.database import Versions
    from harry_mcp.storage.spaces import SpaceState


# What counts first where several things are wrong: each may be the reason for those behind it.
_FIRST = (ExitCode.USAGE, ExitCode.DATABASE, ExitCode.PROVIDER)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the report for a script.")] = False,
) -> None:
    """Check the settings, the models and the database, and say what is in use and why.

    Ends with the code of what is wrong; of several a setting counts first, then the database, then a service.
    """
    checks = run(examine())
    code = code_of(checks)
    if as_json:
        print_json({"ok": code == ExitCode.OK, "checks": [check.as_json() for check in checks]})
    else:
        _print(checks)
    if code != ExitCode.OK:
        raise typer.Exit(code)


def code_of(checks: Sequence[Check]) -> ExitCode:
    """How the command ends after these."""
    wrong = {check.code for check in checks if not check.ok}
    return next((code for code in (*_FIRST, *wrong) if code in wrong), ExitCode.OK)


async def examine() -> list[Check]:
    """All parts, as the environment sets them."""
    checks = [Check("harry", True, f"{__version__} on Python {sys.version.split()[0]}, {sys.platform}")]
    try:
        settings = load_settings()
    except SettingsError as error:
        return [*checks, Check.failed("settings", error)]
    checks.append(_profile(settings))
    checks.append(await _model(settings))
    checks.extend(await _claude(settings))
    checks.append(_contexts(settings))
    checks.append(_ranker(settings))
    checks.append(_web(settings))
    checks.append(await access(settings))
    checks.append(disk(settings))
    return [*checks, *await _database(settings)]


def _profile(settings: Settings) -> Check:
    from harry_mcp.profile import load_profile

    try:
        profile = load_profile(settings.profile)
    except SettingsError as error:
        return Check.failed("profile", error)
    if settings.profile is None:
        return Check("profile", True, "none; set HARRY_PROFILE to a TOML file to name the subject and its words")
    return Check(
        "profile",
        True,
        f"{profile.subject or 'no subject'}, {len(profile.glossary)} glossary words, {settings.profile}",
    )


async def _model(settings: Settings) -> Check:
    from harry_mcp.providers.factory import build_embedder
    from harry_mcp.providers.voyage import VoyageEmbedder

    embedder = build_embedder(settings)
    try:
        await embedder.load()
        # A key is known to be right once it was used; one word costs nothing that could be counted.
        await embedder.embed_queries(["harry"])
    except HarryError as error:
        return Check.failed("embeddings", error)
    finally:
        if isinstance(embedder, VoyageEmbedder):
            await embedder.close()
    local = embedder.space.provider == "local"
    why = "on this machine, no key needed" if local else "by VOYAGE_API_KEY; the texts go to Voyage AI"
    return Check("embeddings", True, f"{embedder.space}, {why}")


async def _claude(settings: Settings) -> list[Check]:
    """Whether the key is taken, where there is one; what it is used for is said beside the uses."""
    from harry_mcp.providers.factory import build_language_model

    claude = build_language_model(settings)
    if claude is None:
        return []
    try:
        await claude.check()
    except HarryError as error:
        return [Check.failed("claude", error)]
    finally:
        await claude.close()
    return [Check("claude", True, f"{claude.name} answers and takes ANTHROPIC_API_KEY")]


def _contexts(settings: Settings) -> Check:
    from harry_mcp.providers.factory import build_claude

    try:
        claude = build_claude(settings)
    except HarryError as error:
        return Check.failed("contexts", error)
    if claude is None:
        why = "no ANTHROPIC_API_KEY" if settings.ingest.context == "auto" else "HARRY_INGEST__CONTEXT says so"
        return Check("contexts", True, f"from the template, title and headings, no key needed ({why})")
    return Check("contexts", True, f"by {claude.name}, ANTHROPIC_API_KEY is set; the documents go to Anthropic")


def _ranker(settings: Settings) -> Check:
    from harry_mcp.providers.factory import build_language_model, build_reranker

    try:
        reranker = build_reranker(settings, build_language_model(settings))
    except HarryError as error:
        return Check.failed("ranker", error)
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
            "web",
            False,
            f"allowed_domains of the profile holds what is no host: {', '.join(allowed.unusable)}",
            ExitCode.USAGE,
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
        return [Check.failed("database", error, f"{where}: ")]
    try:
        versions = await database.versions()
        async with database.reading() as unit:
            counts = await unit.documents.counts()
            searches = await unit.searches.counts(7)
            languages = await unit.keywords.languages()
            spaces = await unit.spaces.all()
        index = await index_check(database, settings)
        jobs = await job_checks(database, settings)
    finally:
        await database.close()
    documents = ", ".join(f"{row.documents} {row.status}" for row in counts) or "none yet; run `harry ingest`"
    chunks = sum(row.chunks for row in counts)
    weak = f", {searches.weak} of them weak" if searches.searches else ""
    return [
        _versions(where, versions),
        Check("documents", True, f"{documents}; {chunks} chunks; languages {', '.join(languages)}"),
        Check("vectors", True, "; ".join(_space(state) for state in spaces)),
        index,
        Check("searches", True, f"{searches.searches} in 7 days{weak}"),
        *jobs,
    ]


def _versions(where: str, found: Versions) -> Check:
    told = f"{where}: PostgreSQL {found.postgres}, pgvector {found.pgvector}, {found.size}"
    for name, version, least, advice in (
        ("PostgreSQL", found.postgres, (15, 0), "Upgrade the server"),
        ("pgvector", found.pgvector, (0, 7), "Install the newer one on the server, then ALTER EXTENSION vector UPDATE"),
    ):
        numbers = re.match(r"(\d+)(?:\.(\d+))?", version)
        if numbers is not None and (int(numbers[1]), int(numbers[2] or 0)) < least:
            wanted = ".".join(str(number) for number in least).removesuffix(".0")
            return Check(
                "database", False, f"{told}. harry needs {name} {wanted} or later. {advice}.", ExitCode.DATABASE
            )
    return Check("database", True, told)


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
