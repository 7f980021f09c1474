"""The web for a question that the knowledge base missed: asked once, kept for a while, and every asking logged."""

from __future__ import annotations

import logging
import time
import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from harry_mcp.domain.deadlines import Deadline
from harry_mcp.domain.hosts import AllowList
from harry_mcp.domain.search import gap_id
from harry_mcp.domain.topics import breadcrumb
from harry_mcp.domain.web import WebAction, WebAnswer, WebFinding, WebStatus, cache_key
from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout, StorageError
from harry_mcp.loop.following import Follower
from harry_mcp.loop.pages import PageText
from harry_mcp.metering import count_gap, count_web_search
from harry_mcp.ports import WebSearch
from harry_mcp.profile import DomainProfile
from harry_mcp.settings import Settings
from harry_mcp.stages.correct.redaction import redact
from harry_mcp.stages.retrieve.query import clean, optimize
from harry_mcp.stages.verify.web import WebStage
from harry_mcp.storage.database import Database
from harry_mcp.storage.gaps import Miss
from harry_mcp.storage.texts import storable
from harry_mcp.tracing import stage

log = logging.getLogger(__name__)
# Seconds of the budget that the web may not have: for the log and the reply itself.
_RESERVE = 0.4
# Search engines refuse longer questions.
_LONGEST_QUERY = 400
_LONGEST_TOPIC = 200

_NO_KEY = "TAVILY_API_KEY is not set. Set it to a key of Tavily's API."
_NO_HOSTS = (
    "No web host is allowed. List some in allowed_domains of the profile, as in allowed_domains = "
    '["docs.example.com"], and name the file in HARRY_PROFILE. The whole web is never searched.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What asking came to. ``failure`` is a sentence, and ``degraded`` its name, when the web could not be asked."""

    finding: WebFinding = field(default_factory=WebFinding)
    degraded: tuple[str, ...] = ()
    failure: str = ""
    cached: bool = False
    asked_at: datetime | None = None


class WebFlow:
    """Stage 3's second half: the web, on the hosts of the profile only."""

    def __init__(
        self, settings: Settings, profile: DomainProfile, database: Database, search: WebSearch | None
    ) -> None:
        """``search`` is None where there is no key; then, and with no host allowed, the web is never asked."""
        self._settings = settings.web
        self._profile = profile
        self._database = database
        self._allow = AllowList.of(profile.allowed_domains)
        for entry in self._allow.unusable:
            log.warning("allowed_domains of the profile: %r is no host name and lets nothing through", entry)
        self._lacks = (
            *(() if search is not None else (_NO_KEY,)),
            *(() if self._allow else (_NO_HOSTS + self._unusable(),)),
        )
        follow = Follower(settings.crawl.user_agent)
        reader = PageText(self._settings)
        self._stage = (
            WebStage(search, self._allow, self._settings, follow=follow, reader=reader)
            if search is not None and self._allow
            else None
        )

    @property
    def lacks(self) -> tuple[str, ...]:
        """What must be set before the web can be asked, in sentences; empty when nothing is missing."""
        return self._lacks

    async def run(self, question: str, *, search_id: str = "", topic: str = "") -> WebAnswer:
        """Ask the web within the budget and log the gap.

        ``search_id`` is the search that missed; what it left in the gap log is completed then, and its topic counts
        where ``topic`` is empty. No failure of the web is an error: the answer names it.

        Raises:
            DatabaseUnavailable: PostgreSQL cannot be reached, before anything was asked.
        """
        started = time.perf_counter()
        deadline = Deadline(self._settings.budget, reserve=_RESERVE)
        timings: dict[str, float] = {}
        question = clean(question)
        miss = await self._miss(question, search_id, topic)
        question = redact(question).text  # it leaves this machine, and is stored
        query = optimize(question, self._profile.glossary, _LONGEST_QUERY).text
        outcome = await self._asked(question, query, deadline, timings)
        answer = self._answer(question, query, miss, outcome)
        with stage("web_log", timings):
            answer = await self._logged(answer, miss)
        timings["total"] = (time.perf_counter() - started) * 1000
        count_web_search(answer.status)
        if not miss.search_id:
            count_gap("web")
        return replace(answer, timings_ms=timings)

    async def _miss(self, question: str, search_id: str, topic: str) -> Miss:
        """What the gap log says of the question: under its search's words, score and topic where that is known."""
        topic = storable(clean(topic))[:_LONGEST_TOPIC]
        shown = redact(question).text
        missed = Miss(gap_id=gap_id(question), question=shown, query=shown)
        if search_id:
            async with self._database.reading() as unit:
                search = await unit.searches.get(storable(search_id.strip()))
            if search is not None:
                missed = replace(
                    missed,
                    gap_id=gap_id(search.question),
                    question=redact(search.question).text,
                    best_score=float(search.verdict.get("score", 0.0)),
                    search_id=search.id,
                )
                topic = topic or search.filters.get("topic", "")
        named = breadcrumb(topic or question, self._profile.topics)
        return replace(missed, topic=named or topic)

    async def _asked(self, question: str, query: str, deadline: Deadline, timings: dict[str, float]) -> _Outcome:
        if self._stage is None:
            return _Outcome()
        key = cache_key(question, self._allow.hosts, self._stage.recipe)
        async with self._database.reading() as unit:
            kept = await unit.web.cached(key, self._settings.cache_seconds)
            if kept is not None:
                return _Outcome(finding=kept.finding, cached=True, asked_at=kept.asked_at)
            if not await unit.web.take_call(self._settings.daily_calls):
                limit = f"the {self._settings.daily_calls} web searches of today are used up"
                return _Outcome(degraded=("web_daily_limit",), failure=limit)
        with stage("web", timings):
            outcome = await self._called(self._stage, question, query, deadline)
        if not outcome.degraded and self._settings.cache_seconds:
            await self._keep(key, outcome.finding)
        return outcome

    async def _called(self, web: WebStage, question: str, query: str, deadline: Deadline) -> _Outcome:
        try:
            finding = await web.ask(question, query, deadline)
        except ProviderTimeout as error:
            return _Outcome(degraded=("web_timeout",), failure=str(error))
        except ProviderNotConfigured as error:
            return _Outcome(degraded=("web_key_refused",), failure=str(error))
        except ProviderError as error:
            return _Outcome(degraded=("web_failed",), failure=str(error))
        return _Outcome(finding=finding, degraded=finding.degraded, asked_at=datetime.now(UTC))

    async def _keep(self, key: str, finding: WebFinding) -> None:
        try:
            async with self._database.reading() as unit:
                await unit.web.keep(key, finding, self._settings.cache_seconds)
        except StorageError as error:
            log.warning("what the web said was not kept: %s", error)

    def _answer(self, question: str, query: str, miss: Miss, outcome: _Outcome) -> WebAnswer:
        found = bool(outcome.finding.sources)
        status = self._status(outcome)
        return WebAnswer(
            web_id="web_" + uuid.uuid4().hex,
            question=question,
            query=query,
            status=status,
            next_action=WebAction.ANSWER_FROM_WEB_WITH_CARE if found else WebAction.SAY_YOU_DO_NOT_KNOW,
            reason=self._reason(status, outcome),
            finding=outcome.finding,
            topic=miss.topic,
            hosts=self._allow.hosts,
            cached=outcome.cached,
            asked_at=outcome.asked_at,
            degraded=outcome.degraded,
            lacks=self._lacks,
        )

    def _status(self, outcome: _Outcome) -> WebStatus:
        if self._stage is None:
            return WebStatus.NOT_CONFIGURED
        if outcome.degraded:
            return WebStatus.DEGRADED
        return WebStatus.OK if outcome.finding.sources else WebStatus.EMPTY

    def _reason(self, status: WebStatus, outcome: _Outcome) -> str:
        if status is WebStatus.NOT_CONFIGURED:
            return (
                "The web was not asked, because web search is not set up here: "
                + " ".join(self._lacks)
                + " Say that you do not know, and do not answer from memory."
            )
        if outcome.failure:
            return (
                f"The web could not be asked: {outcome.failure.rstrip('.')}. That does not mean that there is no "
                "answer. Say that you do not know and that the web could not be searched; do not answer from memory."
            )
        if outcome.finding.sources:
            return (
                "These passages come from the web and nobody here has checked them. Use only what answers the "
                "question, cite the addresses, and say that it comes from the web and not from the knowledge base. If "
                "nothing in them answers it, say that you do not know."
            )
        return (
            "Neither the knowledge base nor the allowed web hosts have an answer to this. Say plainly that you do not "
            "know; do not answer from memory."
        )

    async def _logged(self, answer: WebAnswer, miss: Miss) -> WebAnswer:
        """The answer with its gap. What was paid for is answered even when it cannot be written down."""
        try:
            async with self._database.transaction() as unit:
                gap = await unit.gaps.log_web(miss, _for_the_log(answer), minutes=self._settings.gap_minutes)
                answer = replace(answer, gap_id=gap)
                await unit.web.record(answer, miss.search_id)
        except StorageError as error:
            log.warning("the web search %s was answered but not recorded: %s", answer.web_id, error)
            lost = ("gap_not_logged",)
            status = answer.status if answer.status is WebStatus.NOT_CONFIGURED else WebStatus.DEGRADED
            return replace(answer, web_id="", gap_id="", status=status, degraded=(*answer.degraded, *lost))
        return answer

    def _unusable(self) -> str:
        named = ", ".join(repr(entry[:60]) for entry in self._allow.unusable[:3])
        return f" These entries are no host names: {named}." if named else ""


def _for_the_log(answer: WebAnswer) -> dict[str, object]:
    """What the gap log keeps of an answer: no text of any page."""
    return {
        "web_id": answer.web_id,
        "status": answer.status.value,
        "degraded": list(answer.degraded),
        "refused": len(answer.finding.refused),
        "results": [
            {"url": source.url, "title": source.title, "score": source.score} for source in answer.finding.sources
        ],
    }
