"""The composition root: everything a process needs, opened in order and closed in reverse."""

from __future__ import annotations

import asyncio

from harry_mcp.ingest.crawl.crawler import Crawler
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.situating import Situator
from harry_mcp.loop import HarryLoop
from harry_mcp.ports import Embedder
from harry_mcp.profile import DomainProfile, load_profile
from harry_mcp.providers.factory import build_claude, build_embedder
from harry_mcp.providers.local.ranker import LocalRanker
from harry_mcp.settings import Settings
from harry_mcp.stages.rank.ranker import RankStage
from harry_mcp.stages.retrieve.retriever import HybridRetriever
from harry_mcp.storage.database import Database


class App:
    """The parts, wired. Build it with :meth:`open`; there is no other state in the package."""

    def __init__(self, settings: Settings, profile: DomainProfile, database: Database, embedder: Embedder) -> None:
        self.settings = settings
        self.profile = profile
        self.database = database
        self.embedder = embedder
        self._claude = build_claude(settings)
        situator = (
            Situator(self._claude, settings.claude, allowance=settings.ingest.ask_above) if self._claude else None
        )
        self.ingester = Ingester(database, embedder, settings.ingest, situator)
        self.crawler = Crawler(database, self.ingester, settings.crawl, page_bytes=settings.ingest.file_bytes)
        self.loop = HarryLoop(
            settings=settings,
            profile=profile,
            database=database,
            retriever=HybridRetriever(database, embedder, settings.retrieve),
            ranker=RankStage(LocalRanker(), settings.rank, settings.retrieve.near_duplicate),
        )

    @classmethod
    async def open(cls, settings: Settings) -> App:
        """Start or reach the database and load the model, at the same time.

        Raises:
            SettingsError: the profile cannot be read.
            StorageError: the database cannot be used as it is.
            ProviderError: the embedding model cannot be loaded.
        """
        profile = load_profile(settings.profile)
        embedder = build_embedder(settings)
        loading = asyncio.create_task(embedder.load())
        try:
            database = await Database.open(settings, embedder.space)
        except BaseException:
            await asyncio.gather(loading, return_exceptions=True)
            raise
        try:
            await loading
        except BaseException:
            await database.close()
            raise
        return cls(settings, profile, database, embedder)

    async def close(self) -> None:
        await self.loop.settled()
        if self._claude is not None:
            await self._claude.close()
        await self.database.close()

    async def __aenter__(self) -> App:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
