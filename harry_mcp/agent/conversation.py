"""The agent: a question goes through the score contract, and what comes back is an answer with its sources."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harry_mcp.agent.answers import QUOTES, Answer, Heard, Listener, Outcome, Spent, Withdrawn, spent_of
from harry_mcp.agent.connection import Connection
from harry_mcp.agent.contract import CorrectionNote, SearchResult, WebResult
from harry_mcp.agent.course import Course, code_heavy, course_of, wants_web
from harry_mcp.agent.prompt import question_text, system_parts
from harry_mcp.agent.quoting import beside, not_known, quoted, reply_to
from harry_mcp.agent.remembering import as_history, said_before
from harry_mcp.agent.sources import Source, Sources
from harry_mcp.agent.toolbox import Toolbox
from harry_mcp.agent.writing import Writer, Written
from harry_mcp.domain.chat import Said
from harry_mcp.domain.plain import one_line, sanitised, visible
from harry_mcp.errors import InputError, ServerUnavailable, ToolFailed
from harry_mcp.ports import ChatModel
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.settings import AgentSection

_OUTCOMES = {
    Course.ANSWER: Outcome.ANSWERED,
    Course.CARE: Outcome.WITH_CARE,
    Course.WEB: Outcome.FROM_WEB,
    Course.CORRECTIONS: Outcome.FROM_CORRECTIONS,
}


@dataclass(frozen=True, slots=True)
class Models:
    """Who writes the answers: ``usual``, and ``code`` for those about code."""

    usual: ChatModel
    code: ChatModel


@dataclass(slots=True)
class _Question:
    """A question on its way to an answer."""

    text: str
    search: SearchResult
    web: WebResult | None
    toolbox: Toolbox
    sources: Sources
    numbers: dict[str, Source]
    corrections: list[tuple[Source, CorrectionNote]]
    notes: list[str] = field(default_factory=list[str])
    degraded: bool = False


class Conversation:
    """One conversation with one server. Each answer's sources are numbered anew; addresses stay known."""

    def __init__(
        self, connection: Connection, models: Models | None, *, settings: AgentSection, style: str, usage: UsageMeter
    ) -> None:
        self._connection = connection
        self._models = models
        self._settings = settings
        self._style = style
        self._usage = usage
        self._known: set[str] = set()
        self.answers: list[Answer] = []

    async def ask(self, question: str, listen: Listener) -> Answer:
        """The answer to a question.

        Raises:
            InputError: there is no question.
            ServerUnavailable: the server cannot be asked.
            ToolFailed: the search failed, or the server speaks another contract. That is no "I do not know".
        """
        question = sanitised(question, 8000)
        if not question.strip():
            raise InputError("Ask a question: there are no words in it.")
        started, before = time.monotonic(), spent_of(self._usage)
        asked = await self._looked_up(question, listen)
        course = course_of(asked.search, asked.web)
        answer = await self._answered(asked, course, listen, before)
        whole = replace(
            answer,
            tools=tuple(asked.toolbox.uses),
            spent=spent_of(self._usage) - before,
            seconds=time.monotonic() - started,
        )
        self._known |= asked.sources.known
        self.answers.append(whole)
        return whole

    async def _looked_up(self, question: str, listen: Listener) -> _Question:
        """The search, and the web where the contract asks for it."""
        sources = Sources(known=set(self._known))
        toolbox = Toolbox(self._connection, sources, self._settings, listen)
        search = await toolbox.search(question, as_history(self.answers, turns=self._settings.history))
        # Corrections that answer the question outrank hits, so they come first; the others are last.
        first = _numbered(sources, [each for each in search.corrections if each.answers])
        added = sources.add_search(search)
        corrections = first + _numbered(sources, [each for each in search.corrections if not each.answers])
        numbers = {
            hit.url or hit.source or hit.document_id: source for hit, source in zip(search.hits, added, strict=True)
        }
        asked = _Question(question, search, None, toolbox, sources, numbers, corrections)
        if search.degraded:
            asked.degraded = True
            asked.notes.append(f"A part of the search was down: {one_line(', '.join(search.degraded), 200)}.")
        if wants_web(search):
            try:
                asked.web = await toolbox.ask_web(search.query or question, search)
            except (ServerUnavailable, ToolFailed) as error:
                asked.degraded = True
                asked.notes.append(f"The web could not be asked: {error}")
            if asked.web is not None:
                for source in sources.add_web(asked.web):
                    numbers[source.url] = source
        return asked

    async def _answered(self, asked: _Question, course: Course, listen: Listener, before: Spent) -> Answer:
        if course is Course.OFFICIAL:
            return self._official(asked, listen)
        if course is Course.REPLY:
            text = reply_to(asked.text)
            listen(Heard(text))
            return self._answer(asked, text, Outcome.REPLIED, ())
        if course is Course.NOTHING:
            return self._not_known(asked, listen)
        if self._models is None:
            return self._quoted(asked, course, listen)
        model = self._models.code if code_heavy(asked.text, asked.search) else self._models.usual
        written = await self._written(asked, course, model, listen, before)
        asked.notes += written.notes
        if written.fault:
            asked.degraded = True
            return self._instead(asked, course, listen, f"{written.fault} The best passages are quoted instead.")
        if not written.covered:
            asked.notes.append(f"{model.name} found no answer in what was found.")
            return self._not_known(asked, listen)
        if not written.cited:
            asked.notes.append(f"{model.name} cited none of the sources that it was given, so its answer was dropped.")
            return self._instead(asked, course, listen, "That answer rests on none of the sources.", strict=True)
        sources = tuple(sorted(written.cited, key=lambda source: source.number))
        if course is Course.CARE:
            asked.notes.append(f"The knowledge base covers this only in part (score {asked.search.verdict.score:.2f}).")
        if any(source.kind == "web" for source in sources):
            asked.notes.append("This rests on the web, not on the knowledge base alone.")
        return self._answer(asked, written.text, _OUTCOMES[course], sources, written_by=model.name)

    async def _written(
        self, asked: _Question, course: Course, model: ChatModel, listen: Listener, before: Spent
    ) -> Written:
        writer = Writer(
            model,
            asked.toolbox,
            asked.sources,
            settings=self._settings,
            listen=listen,
            spent=lambda: (spent_of(self._usage) - before).dollars,
        )
        told = question_text(
            asked.text,
            course,
            asked.search,
            asked.web,
            asked.numbers,
            limit=self._settings.evidence_characters,
        )
        system = system_parts(self._style, asked.corrections, tools=bool(self._settings.tool_calls))
        return await writer.write([*self._said_before(), Said("user", told)], system)

    def _instead(self, asked: _Question, course: Course, listen: Listener, why: str, *, strict: bool = False) -> Answer:
        """What stands in for a model's answer. From the web and from memory nothing is taken on a model's word."""
        listen(Withdrawn(why))
        if not strict:
            asked.notes.append(why)
        if strict and course in (Course.WEB, Course.CORRECTIONS):
            return self._not_known(asked, listen)
        return self._quoted(asked, course, listen)

    def _official(self, asked: _Question, listen: Listener) -> Answer:
        official = asked.search.verified
        text = visible(official.answer).strip()
        listen(Heard(text))
        for source, note in asked.corrections:
            asked.notes.append(f"A correction bears on this: {one_line(note.said, 750)} ({source.source})")
        by = f", approved by {one_line(official.approved_by, 80)}" if official.approved_by else ""
        asked.notes.append(f"This is the official answer{by}.")
        # Its own sources alone, for it rests on no hit of this search.
        rests_on = Sources()
        sources = tuple(rests_on.add_official(official))
        asked.sources.add_official(official)
        return self._answer(asked, text, Outcome.OFFICIAL, sources, written_by="official answer")

    def _quoted(self, asked: _Question, course: Course, listen: Listener) -> Answer:
        made = quoted(
            asked.text,
            course,
            asked.search,
            asked.web,
            asked.numbers,
            corrections=asked.corrections,
            most=self._settings.quotes,
            characters=self._settings.quote_characters,
        )
        listen(Heard(made.text))
        asked.notes += beside(asked.corrections)
        return self._answer(asked, made.text, _OUTCOMES[course], made.cited)

    def _not_known(self, asked: _Question, listen: Listener) -> Answer:
        text = not_known(asked.search, asked.web)
        asked.notes += beside(asked.corrections)
        listen(Withdrawn(""))
        listen(Heard(text))
        return self._answer(asked, text, Outcome.NOT_KNOWN, ())

    def _answer(
        self, asked: _Question, text: str, outcome: Outcome, sources: Sequence[Source], *, written_by: str = QUOTES
    ) -> Answer:
        search, web = asked.search, asked.toolbox.web
        caveats = tuple(dict.fromkeys(one_line(each, 500) for source in sources for each in source.caveats))
        from_web = outcome is Outcome.FROM_WEB and web is not None and web.web_id
        served = search.verified.lookup_id if outcome is Outcome.OFFICIAL else ""
        return Answer(
            question=asked.text,
            text=text,
            outcome=outcome,
            verdict=search.verdict,
            sources=tuple(sources),
            caveats=caveats,
            notes=tuple(asked.notes + _warnings(search)),
            corrections=tuple(one_line(note.said, 1250) for _, note in asked.corrections),
            written_by=written_by,
            search_id=search.search_id,
            result_id=served or (web.web_id if from_web and web else "") or search.search_id,
            gap_id=search.gap_id or (web.gap_id if web else ""),
            degraded=asked.degraded,
        )

    def _said_before(self) -> list[Said]:
        longest = self._settings.history_characters
        return said_before(self.answers, turns=self._settings.history, longest=longest)


def _numbered(sources: Sources, notes: Sequence[CorrectionNote]) -> list[tuple[Source, CorrectionNote]]:
    return list(zip(sources.add_corrections(notes), notes, strict=True))


def _warnings(search: SearchResult) -> list[str]:
    warned: list[str] = []
    near = search.verified
    if near.match == "partial" and near.answer:
        differs = f", which is not quite this one: {one_line(near.reason, 200)}" if near.reason else ""
        warned.append(f"There is an official answer to “{one_line(near.question, 200)}”{differs}")
    if search.past_failures:
        first = search.past_failures[0]
        said = f" ({one_line(first.comment, 200)})" if first.comment else ""
        warned.append(
            f"An earlier answer to a question like this was complained of: {one_line(first.reason, 40)}{said}."
        )
    return warned
