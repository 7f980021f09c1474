"""An answer by the course that the contract prescribes: official, written by a model, quoted, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harry_mcp.agent.answers import QUOTES, Answer, Heard, Listener, Outcome, Proposal, Withdrawn
from harry_mcp.agent.contract import CorrectionNote, SearchResult, WebResult
from harry_mcp.agent.course import CARE_NOTES, Course, code_heavy, course_of
from harry_mcp.agent.noting import past_warnings, unread
from harry_mcp.agent.prompt import question_text, system_parts
from harry_mcp.agent.quoting import beside, not_known, quoted, reply_to
from harry_mcp.agent.remembering import unnumbered
from harry_mcp.agent.sources import Source, Sources
from harry_mcp.agent.toolbox import Toolbox
from harry_mcp.agent.writing import Writer, Written
from harry_mcp.domain.chat import Said
from harry_mcp.domain.plain import one_line, visible
from harry_mcp.ports import ChatModel
from harry_mcp.settings import AgentSection

_OUTCOMES = {
    Course.ANSWER: Outcome.ANSWERED,
    Course.CARE: Outcome.WITH_CARE,
    Course.DISPUTED: Outcome.WITH_CARE,
    Course.WEB: Outcome.FROM_WEB,
    Course.CORRECTIONS: Outcome.FROM_CORRECTIONS,
}
_NOTHING_THERE = (
    "I do not know. The knowledge base found no passage at all, which is so where nothing has been ingested yet. "
    "`harry ingest FOLDER` brings documents in; then ask again."
)


@dataclass(frozen=True, slots=True)
class Models:
    """Who writes the answers: ``usual``, and ``code`` for those about code."""

    usual: ChatModel
    code: ChatModel


@dataclass(slots=True)
class Asked:
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


class Answerer:
    """Makes the answers of a conversation."""

    def __init__(self, models: Models | None, *, settings: AgentSection, style: str) -> None:
        self._models = models
        self._settings = settings
        self._style = style

    async def answer(
        self, asked: Asked, listen: Listener, *, said: Sequence[Said], spent: Callable[[], float]
    ) -> Answer:
        """The answer, but for what it cost and took. ``said``: the conversation so far; ``spent``: dollars for this
        answer so far."""
        course = course_of(asked.search, asked.web)
        if course is Course.OFFICIAL:
            return self._official(asked, listen)
        if course is Course.REPLY:
            text = reply_to(asked.text)
            listen(Heard(text))
            return self._answer(asked, text, Outcome.REPLIED, ())
        if course is Course.NOTHING and self._models is not None and asked.corrections:
            # A model can tell whether one that may have to do with the question answers it.
            course = Course.CORRECTIONS
        if course is Course.NOTHING:
            return self._not_known(asked, listen)
        if self._models is None:
            return self._quoted(asked, course, listen)
        model = self._models.code if code_heavy(asked.text, asked.search) else self._models.usual
        writer = Writer(model, asked.toolbox, asked.sources, settings=self._settings, listen=listen, spent=spent)
        written = await self._written(asked, course, writer, said)
        asked.notes += written.notes
        if written.fault:
            asked.degraded = True
            if course is Course.CORRECTIONS and not any(note.answers for _, note in asked.corrections):
                asked.notes.append(written.fault)
                return self._not_known(asked, listen)
            return self._instead(asked, course, listen, f"{written.fault} The best passages are quoted instead.")
        if not written.covered:
            asked.notes.append(f"{model.name} found no answer in what was found.")
            return self._not_known(asked, listen)
        if not written.cited:
            asked.notes.append(f"{model.name} cited none of the sources that it was given, so its answer was dropped.")
            return self._instead(asked, course, listen, "That answer rests on none of the sources.", strict=True)
        sources = tuple(sorted(written.cited, key=lambda source: source.number))
        if course in CARE_NOTES:
            asked.notes.append(CARE_NOTES[course].format(score=asked.search.verdict.score))
        if any(source.kind == "web" for source in sources):
            asked.notes.append("This rests on the web, not on the knowledge base alone.")
        proposal = Proposal(unnumbered(written.text), _documents(sources))
        return self._answer(asked, written.text, _OUTCOMES[course], sources, written_by=model.name, proposal=proposal)

    async def _written(self, asked: Asked, course: Course, writer: Writer, said: Sequence[Said]) -> Written:
        told = question_text(
            asked.text,
            course,
            asked.search,
            asked.web,
            asked.numbers,
            limit=self._settings.evidence_characters,
        )
        system = system_parts(self._style, asked.corrections, tools=bool(self._settings.tool_calls))
        return await writer.write([*said, Said("user", told)], system)

    def _instead(self, asked: Asked, course: Course, listen: Listener, why: str, *, strict: bool = False) -> Answer:
        """What stands in for a model's answer. From the web and from memory nothing is taken on a model's word."""
        listen(Withdrawn(why))
        if not strict:
            asked.notes.append(why)
        if strict and course in (Course.WEB, Course.CORRECTIONS):
            return self._not_known(asked, listen)
        return self._quoted(asked, course, listen)

    def _official(self, asked: Asked, listen: Listener) -> Answer:
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
        proposal = Proposal(text, _documents(sources))
        return self._answer(asked, text, Outcome.OFFICIAL, sources, written_by="official answer", proposal=proposal)

    def _quoted(self, asked: Asked, course: Course, listen: Listener) -> Answer:
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
        return self._answer(asked, made.text, _OUTCOMES[course], made.cited, proposal=made.best)

    def _not_known(self, asked: Asked, listen: Listener) -> Answer:
        nothing_there = asked.search.status == "empty" and not asked.search.hits
        text = _NOTHING_THERE if nothing_there else not_known(asked.search, asked.web)
        asked.notes += beside(asked.corrections)
        listen(Withdrawn(""))
        listen(Heard(text))
        return self._answer(asked, text, Outcome.NOT_KNOWN, ())

    def _answer(
        self,
        asked: Asked,
        text: str,
        outcome: Outcome,
        sources: Sequence[Source],
        *,
        written_by: str = QUOTES,
        proposal: Proposal | None = None,
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
            notes=tuple(asked.notes + unread(asked.text, search.query) + past_warnings(search)),
            corrections=tuple(one_line(note.said, 1250) for _, note in asked.corrections),
            written_by=written_by,
            search_id=search.search_id,
            result_id=served or (web.web_id if from_web and web else "") or search.search_id,
            gap_id=search.gap_id or (web.gap_id if web else ""),
            degraded=asked.degraded,
            # What is open or answered in part is not to be served as official.
            proposal=None if outcome is Outcome.WITH_CARE else proposal,
        )


def _documents(sources: Sequence[Source]) -> tuple[str, ...]:
    return tuple(source.where for source in sources if source.kind != "correction" and source.where)
