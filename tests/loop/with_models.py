"""An app whose models are local servers that speak the vendors' wire formats."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from psycopg import AsyncConnection
from pydantic import SecretStr

from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.settings import Settings
from harry_mcp.settings.section import Section
from tests.providers.scripted import ScriptedAnthropic, ScriptedVoyage
from tests.providers.vendor import vendor

CLAUDE_KEY = "sk-ant-hush-hush-hush"
VOYAGE_KEY = "pa-hush-hush-hush"
DOCUMENTS = [
    ("API keys", "Rotate an API key under Settings; the old key works for an hour."),
    ("Invoices", "Invoices are sent on the first day of the month."),
    ("Webhooks", "A webhook is retried five times, then it is switched off."),
    ("Single sign-on", "Single sign-on with Okta needs the Enterprise plan."),
    ("Exports", "An export of contacts holds at most a million rows."),
    ("Roles", "Only an owner may delete a workspace."),
]


@dataclass(frozen=True, slots=True)
class WithModels:
    """The app and the scripts of its vendors."""

    app: App
    claude: ScriptedAnthropic
    voyage: ScriptedVoyage


@asynccontextmanager
async def with_models(
    settings: Settings,
    *,
    claude: ScriptedAnthropic | None = None,
    voyage: ScriptedVoyage | None = None,
    sections: Mapping[str, Mapping[str, object]] | None = None,
) -> AsyncGenerator[WithModels, None]:
    """The app filled with ``DOCUMENTS``. Voyage embeds where a script of it is given, Claude does all else.

    Retries are few and short, so that a fault is told within a test's patience.
    """
    rules: dict[str, object] = {"retries": 1, "timeout": 20.0, "patience": 20.0}
    scripts = claude or ScriptedAnthropic(), voyage or ScriptedVoyage()
    async with vendor(scripts[0]) as anthropic_api, vendor(scripts[1]) as voyage_api:
        changed: dict[str, object] = {
            "anthropic_api_key": SecretStr(CLAUDE_KEY),
            "claude": settings.claude.model_copy(update={"base_url": anthropic_api.url, **rules}),
            "voyage": settings.voyage.model_copy(update={"base_url": voyage_api.url, "dimension": 384, **rules}),
            "ingest": settings.ingest.model_copy(update={"context": "template"}),
        }
        if voyage is not None:
            changed["voyage_api_key"] = SecretStr(VOYAGE_KEY)
            await _forget_everything(settings)  # the template of the tests was made for the local model
        # Wide where a test says nothing else, for this machine may be busy with others.
        wide: dict[str, object] = {"deadline": 30.0, "rewrite_budget": 10.0, "hyde_budget": 10.0, "embed_budget": 10.0}
        told: dict[str, dict[str, object]] = {"search": wide, "rank": {"budget": 10.0}}
        for name, update in (sections or {}).items():
            told[name] = {**told.get(name, {}), **update}
        for name, update in told.items():
            base: Section = getattr(settings, name)
            changed[name] = base.model_copy(update=update)
        async with await App.open(settings.model_copy(update=changed)) as app:
            await app.ingester.ingest(
                SourceDocument(source=f"test:{title}", title=title, text=text, language="en")
                for title, text in DOCUMENTS
            )
            yield WithModels(app, *scripts)


async def _forget_everything(settings: Settings) -> None:
    url = settings.database_url.get_secret_value()
    async with await AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("DROP SCHEMA harry CASCADE")
