"""The local answerer: no model writes; the best passages are quoted, by the same contract."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harry_mcp.agent.answers import Proposal
from harry_mcp.agent.contract import CorrectionNote, Hit, SearchResult, WebResult
from harry_mcp.agent.course import Course
from harry_mcp.agent.sources import Source
from harry_mcp.domain.courtesies import Courtesy, courtesy
from harry_mcp.domain.plain import one_line, visible
from harry_mcp.domain.tokens import index_terms

_BLOCK = re.compile(r"\n{2,}")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_WORD = re.compile(r"[^\W_][\w.\-]*")
_HEADINGS = re.compile(r"\A(?:\s*#{1,6}\s[^\n]*(?:\n+|\Z))+")
_WEB_SAID = {
    "not_configured": "The web cannot be asked here: it is not set up.",
    "degraded": "The web was asked, and a part of it was down.",
}
_REPLIES = {
    Courtesy.GREETING: "Hello. What would you like to know?",
    Courtesy.THANKS: "You are welcome. Ask on whenever you like.",
    Courtesy.GOODBYE: "Goodbye.",
    None: "There is nothing to look up in that. What would you like to know?",
}
_BANDS = {"strong": 2, "moderate": 1}


@dataclass(frozen=True, slots=True)
class Quoted:
    """An answer made of quotes. ``cited``: the sources in the order of their quotes; ``best``: its first part, without
    the words around it."""

    text: str
    cited: tuple[Source, ...]
    best: Proposal | None


def quoted(
    question: str,
    course: Course,
    search: SearchResult,
    web: WebResult | None,
    numbers: dict[str, Source],
    *,
    corrections: Sequence[tuple[Source, CorrectionNote]],
    most: int,
    characters: int,
) -> Quoted:
    """The answer of a course other than the official one and that of not knowing.

    Corrections that answer the question stand at its head; :func:`beside` has the others.
    """
    parts: list[str] = []
    cited: list[Source] = []
    best: list[Proposal] = []
    for source, note in corrections:
        if note.answers:
            parts.append(f"A correction that people made: {one_line(note.said, 1250)} [{source.number}]")
            cited.append(source)
            best.append(
                Proposal(one_line(note.lesson or note.truth, 1250), (note.source_url,) if note.source_url else ())
            )
    if course is Course.WEB and web is not None:
        parts.append("From the web, not from the knowledge base:")
        chosen = [(numbers[page.url], page.text, page.title) for page in web.results if page.url in numbers][:most]
    elif course in (Course.ANSWER, Course.CARE, Course.DISPUTED):
        chosen = [
            (numbers[hit.url or hit.source or hit.document_id], hit.text, _place(hit)) for hit in _best(search, most)
        ]
    else:
        chosen = []
    for source, text, place in chosen:
        said = passage(text, question, characters)
        parts.append(f"{one_line(place, 300)} [{source.number}]\n\n{_as_quote(said)}")
        cited.append(source)
        best.append(Proposal(said, (source.where,) if source.where else ()))
    if course is Course.CARE:
        open_words = uncovered(question, [text for _, text, _ in chosen])
        named = f" They do not speak of: {', '.join(open_words)}." if open_words else ""
        parts.append(f"Take this with care: the knowledge base answers the question only in part.{named}")
    if course is Course.DISPUTED:
        parts.append("Take this with care: documents contradict each other about it, and it is open which is right.")
    return Quoted("\n\n".join(parts), tuple(dict.fromkeys(cited)), best[0] if best else None)


def beside(corrections: Sequence[tuple[Source, CorrectionNote]]) -> list[str]:
    """Notes on corrections that may have to do with a question and are not the answer to it."""
    return [
        f"A correction may have to do with this: {one_line(note.said, 750)} ({source.source})"
        for source, note in corrections
        if not note.answers
    ]


def reply_to(courtesy_said: str) -> str:
    """A sentence for thanks, a greeting or a goodbye."""
    return _REPLIES.get(courtesy(courtesy_said, answered=True), _REPLIES[None])


def not_known(search: SearchResult, web: WebResult | None) -> str:
    """The answer of not knowing: that the web did not help either, and where the gap is noted."""
    parts = ["I do not know. The knowledge base does not answer this question."]
    if search.degraded:
        parts = ["I do not know. The knowledge base could not be searched in full; ask again later."]
    if web is not None:
        parts.append(_WEB_SAID.get(web.status, "The web was asked and does not answer it either."))
    gap = search.gap_id or (web.gap_id if web else "")
    if gap:
        parts.append(f"The gap is noted as {gap} for the people who keep the knowledge base.")
    return " ".join(parts)


def uncovered(question: str, texts: Sequence[str]) -> list[str]:
    """The words of a question, as they stand in it, that no text holds."""
    held = {term for text in texts for term in index_terms(text)}
    words = dict.fromkeys(word.strip(".-") for word in _WORD.findall(question))
    return [word for word in words if (terms := index_terms(word)) and not held & set(terms)]


def passage(text: str, question: str, characters: int) -> str:
    """The part of a passage that fits a question best, in whole paragraphs and blocks of code where they fit."""
    text = visible(text).strip()
    # Its headings stand above the quote already.
    text = _HEADINGS.sub("", text) or text
    if len(text) <= characters:
        return text
    blocks = list(_blocks(text))
    wanted = set(index_terms(question))
    held = [wanted & set(index_terms(block)) for block in blocks]
    # A word that the passage says everywhere does not point at a place in it.
    often = Counter(term for terms in held for term in terms)
    windows = [_window(blocks, start, characters) for start in range(len(blocks))]
    none: set[str] = set()
    weights = [sum(1 / often[term] for term in none.union(*held[start:end])) for start, end in windows]
    # Of equal windows the first one that begins with something to the point.
    best = max(range(len(windows)), key=lambda place: (round(weights[place], 6), bool(held[place]), -place))
    start, end = windows[best]
    chosen = "\n\n".join(blocks[start:end])
    if len(chosen) <= characters:
        return chosen
    cut = chosen[: characters - 1]
    cut = cut[: max(cut.rfind(" "), cut.rfind("\n"), characters // 2)].rstrip()
    open_fence = sum(1 for line in cut.splitlines() if _FENCE.match(line)) % 2
    return cut + " …" + ("\n```" if open_fence else "")


def _window(blocks: Sequence[str], start: int, characters: int) -> tuple[int, int]:
    """From one block on as many as fit, one at least."""
    size, end = len(blocks[start]), start + 1
    while end < len(blocks) and size + len(blocks[end]) + 2 <= characters:
        size += len(blocks[end]) + 2
        end += 1
    return start, end


def _best(search: SearchResult, most: int) -> list[Hit]:
    """Hits of the first one's band or better, one for each document."""
    least = _BANDS.get(search.hits[0].band, 0) if search.hits else 0
    chosen: dict[str, Hit] = {}
    for hit in search.hits:
        if _BANDS.get(hit.band, 0) >= least:
            chosen.setdefault(hit.url or hit.source or hit.document_id, hit)
    return list(chosen.values())[:most]


def _blocks(text: str) -> Iterable[str]:
    """Paragraphs; a block of code is one, whatever empty lines it holds."""
    held: list[str] = []
    for part in _BLOCK.split(text):
        held.append(part)
        if sum(1 for line in "\n".join(held).splitlines() if _FENCE.match(line)) % 2 == 0:
            yield "\n\n".join(held)
            held = []
    if held:
        yield "\n\n".join(held)


def _as_quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _place(hit: Hit) -> str:
    return " > ".join(part for part in (hit.title, hit.heading) if part)
