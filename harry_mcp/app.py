"""The composition root: everything a process needs, opened in order and closed in reverse."""

from __future__ import annotations

import asyncio

from harry_mcp.ingest.background import BackgroundIngestions
from harry_mcp.ingest.crawl.crawler import Crawler
from harry_mcp.ingest.ingester import Ingester
from harry_mcp.ingest.probing import SourceProber
from harry_mcp.ingest.situating import Situator
from harry_mcp.loop import Flows, HarryLoop
from harry_mcp.loop.ageing import AgeingFlow
from harry_mcp.loop.backfilling import embed_missing
from harry_mcp.loop.browsing import BrowseFlow
from harry_mcp.loop.claiming import ClaimFlow
from harry_mcp.loop.correcting import CorrectionFlow
from harry_mcp.loop.digesting import DigestFlow
from harry_mcp.loop.drafting import WebDrafts
from harry_mcp.loop.explaining import ExplainFlow
from harry_mcp.loop.feedback import FeedbackFlow
from harry_mcp.loop.gauging import tell_queues_forever
from harry_mcp.loop.promoting import Promoter
from harry_mcp.loop.questions import Questions
from harry_mcp.loop.recalling import RecallFlow
from harry_mcp.loop.rehearsing import Rehearser
from harry_mcp.loop.rehearsing_lessons import LessonRehearser
from harry_mcp.loop.reviewing import ReviewFlow
from harry_mcp.loop.reviewing_corrections import CorrectionReviewFlow
from harry_mcp.loop.reviewing_verified import VerifiedReviewFlow
from harry_mcp.loop.rewriting import Rewriter
from harry_mcp.loop.rot import RotFlow
from harry_mcp.loop.searching import SearchFlow, SearchStages
from harry_mcp.loop.web import WebFlow
from harry_mcp.loop.weighing import Scales
from harry_mcp.loop.words import Words
from harry_mcp.ports import Embedder, Loadable, VectorIndex
from harry_mcp.profile import DomainProfile, load_profile
from harry_mcp.providers.factory import (
    build_claude,
    build_embedder,
    build_language_model,
    build_notifier,
    build_reranker,
    build_vector_store,
    build_web_search,
)
from harry_mcp.providers.local.embedder import LocalEmbedder
from harry_mcp.providers.local.ranker import LocalRanker
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.settings import Settings
from harry_mcp.stages.curate.judging import FactJudge
from harry_mcp.stages.curate.watching import VersionWatch
from harry_mcp.stages.rank.curves import Curves
from harry_mcp.stages.rank.ranker import RankStage
from harry_mcp.stages.rank.reranking import RerankStep
from harry_mcp.stages.retrieve.corrective import CorrectiveWriter
from harry_mcp.stages.retrieve.history import HistoryRewriter
from harry_mcp.stages.retrieve.hyde import HypotheticalWriter
from harry_mcp.stages.retrieve.retriever import HybridRetriever
from harry_mcp.stages.verify.claim_reader import ClaimReader
from harry_mcp.storage.applying import OutboxApplier
from harry_mcp.storage.database import Database
from harry_mcp.storage.mirrored import MirroredIndex
from harry_mcp.storage.vector_index import PgvectorIndex


class App:
    """The parts, wired. Build it with :meth:`open`; there is no other state in the package."""

    def __init__(
        self,
        settings: Settings,
        profile: DomainProfile,
        database: Database,
        embedder: Embedder,
        usage: UsageMeter | None = None,
    ) -> None:
        self.settings = settings
        self.profile = profile
        self.database = database
        self.embedder = embedder
        self.usage = usage or UsageMeter()
        self._store = build_vector_store(settings)
        self.applier = OutboxApplier(database, self._store, settings.vectors) if self._store else None
        self.vectors = self.vectors_of(database)
        self._model = build_language_model(settings, self.usage)
        self._claude = build_claude(settings, self._model, self.usage)
        situator = (
            Situator(self._claude, settings.claude, allowance=settings.ingest.ask_above) if self._claude else None
        )
        judge = FactJudge(self._model, settings.curate)
        watch = VersionWatch(database, judge, settings.curate)
        self.ingester = Ingester(database, embedder, settings.ingest, situator, watch)
        sizes = settings.ingest
        self.crawler = Crawler(
            database, self.ingester, settings.crawl, page_bytes=sizes.file_bytes, pdf_bytes=sizes.pdf_bytes
        )
        self.ingestions = BackgroundIngestions(database, self.ingester, self.crawler, settings)
        self._web_search = build_web_search(settings, self.usage)
        self._questions = questions = Questions(embedder, profile, settings)
        self._backfilling: asyncio.Task[int] | None = None
        self._gauging: asyncio.Task[None] | None = None
        words = Words(database)
        search = SearchFlow(settings, profile, database, self._search_stages())
        recall = RecallFlow(settings, database, words)
        promoter = Promoter(settings, database, self.ingester)
        self.browse = BrowseFlow(database)
        self.ageing = AgeingFlow(settings, database, embedder)
        self.loop = HarryLoop(
            settings,
            database,
            Flows(
                search=search,
                explain=ExplainFlow(database, search, recall),
                recall=recall,
                claims=ClaimFlow(
                    settings,
                    database,
                    search,
                    recall=recall,
                    scales=Scales(settings, database, embedder, words),
                    reader=ClaimReader(self._model) if self._model else None,
                ),
                feedback=FeedbackFlow(settings, database, questions, WebDrafts(settings, database, self.ingester)),
                web=WebFlow(settings, profile, database, self._web_search),
                verified=VerifiedReviewFlow(settings, database, questions),
                correcting=CorrectionFlow(
                    settings, database, embedder, questions=questions, words=words, promoter=promoter, model=self._model
                ),
                corrections=CorrectionReviewFlow(
                    database,
                    promoter=promoter,
                    rehearser=LessonRehearser(
                        settings, database, embedder, lambda stage: RecallFlow(settings, stage, words), questions
                    ),
                ),
                rot=RotFlow(
                    settings.curate,
                    database,
                    judge,
                    SourceProber(
                        settings.curate,
                        user_agent=settings.crawl.user_agent,
                        allow_private=settings.ingest.private_addresses,
                    ),
                ),
                digest=DigestFlow(
                    settings.digest, settings.mail, database, build_notifier(settings), subject=profile.subject
                ),
                review=ReviewFlow(
                    settings,
                    database,
                    Rewriter(database, self.ingester),
                    Rehearser(settings, database, embedder, self._plain_search),
                ),
            ),
        )

    def _plain_search(self, database: Database) -> SearchFlow:
        """A search that asks no model and remembers nothing, over a database that may be a rehearsal."""
        s = self.settings
        stages = SearchStages(
            rewriter=HistoryRewriter(None, s.search),
            retriever=HybridRetriever(database, self.embedder, s),
            ranker=RankStage(LocalRanker(), s.rank, s.retrieve.near_duplicate),
            curves=Curves(database),
        )
        return SearchFlow(s, self.profile, database, stages)

    def _search_stages(self) -> SearchStages:
        """The parts of a search; those that ask a model only where there is one."""
        s, subject, model = self.settings, self.profile.subject, self._model
        writer = HypotheticalWriter(model, s.search, subject) if model and s.search.hyde == "auto" else None
        self._reranker = reranker = build_reranker(s, model, self.usage)
        ranker = RankStage(LocalRanker(), s.rank, s.retrieve.near_duplicate)
        return SearchStages(
            rewriter=HistoryRewriter(model, s.search),
            retriever=HybridRetriever(self.database, self.embedder, s, writer, vectors=self.vectors),
            ranker=ranker,
            curves=Curves(self.database),
            reranker=RerankStep(reranker, s.rank, local=ranker.name, cache=s.search.cache) if reranker else None,
            corrective=CorrectiveWriter(model, s.search, subject) if model and s.search.corrective else None,
        )

    def vectors_of(self, database: Database) -> VectorIndex:
        """The index that the settings name, over a connection to this knowledge base."""
        if self._store is None or self.applier is None:
            return PgvectorIndex(database)
        return MirroredIndex(database, self._store, self.settings.vectors, self.applier)

    @classmethod
    async def open(cls, settings: Settings, *, loaded: LocalEmbedder | None = None) -> App:
        """Start or reach the database and load the model, at the same time.

        `loaded` takes the place of the embedder that the settings name, for who has loaded the same already.

        Raises:
            SettingsError: the profile cannot be read.
            StorageError: the database cannot be used as it is.
            ProviderError: the embedding model cannot be loaded.
        """
        profile = load_profile(settings.profile)
        usage = UsageMeter()
        embedder = loaded or build_embedder(settings, usage)
        loading = asyncio.create_task(embedder.load())
        try:
            database = await Database.open(settings, embedder.space)
        except BaseException:
            await asyncio.gather(loading, return_exceptions=True)
            raise
        try:
            await loading
            app = cls(settings, profile, database, embedder, usage)
            # Now and not within the budget of the first search, which the import alone would use up.
            for model in (app._model, app._reranker, app._store):
                if isinstance(model, Loadable):
                    await model.load()
            if app.applier is not None:
                await app.applier.begin()
            app.backfill()
            app._gauging = asyncio.create_task(tell_queues_forever(database), name="harry-gauges")
            return app
        except BaseException:
            await database.close()
            raise

    def backfill(self) -> None:
        """Embed what is remembered and has no vector in this space, in the background."""
        self._backfilling = asyncio.create_task(self.embed_missing(), name="harry-backfill")

    async def embed_missing(self) -> int:
        """What :func:`embed_missing` does; how many there were."""
        return await embed_missing(self.database, self.embedder, self._questions)

    async def close(self) -> None:
        for task in (self._backfilling, self._gauging):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await self.ingestions.close()
        await self.loop.settled()
        if self.applier is not None:
            await self.applier.close()
        for model in {self._store, self._model, self._claude, self._reranker, self.embedder, self._web_search}:
            if isinstance(model, Loadable):
                await model.close()
        if self._web_search is not None:
            await self._web_search.close()
        await self.database.close()

    async def __aenter__(self) -> App:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
