"""The golden conversations: each played to its last question over a real server, by the agent and by a plain host."""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harry_mcp.agent.answers import Event
from harry_mcp.agent.conversation import Conversation
from harry_mcp.agent.session import Session
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.settings import Settings

CONVERSATIONS = Path(__file__).parents[1] / "evals" / "data" / "conversations.jsonl"
HALVES = ("development", "held")
CORPORA = ("plausible", "hubspot_agent_skills", "techqa", "crawler")
# Pages of tests of readers, which say nothing, and those that are too short to be asked about.
_LEAST = 1000
_FILLER = "orem ipsum"
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation. ``kind``: ``follow_up``, ``alone``, ``uncovered`` and ``uncovered_follow_up`` (no page
    answers it) or ``no_question``."""

    id: str
    half: str
    corpus: str
    earlier: tuple[str, ...]
    question: str
    kind: str
    relevant_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the last question of a conversation brought. ``place`` of the right page, from 1, 0 where it is missing."""

    row: Row
    place: int
    strong: bool
    query: str
    bare_query: str
    gap: bool
    reply: dict[str, Any]

    @property
    def wrong_strong(self) -> bool:
        return self.strong and self.place != 1

    @property
    def changed(self) -> bool:
        return self.query != self.bare_query


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares over the follow-ups, and counts of what may not be."""

    follow_ups: int
    first: float
    third: float
    wrong_strong: int
    alone: int
    alone_first: float
    alone_changed: int
    alone_wrong_strong: int
    uncovered: int
    uncovered_strong: int
    no_question: int
    no_question_strong: int
    no_question_gaps: int


def rows(half: str, corpus: str) -> list[Row]:
    found = [json.loads(line) for line in CONVERSATIONS.read_text(encoding="utf-8").splitlines()]
    return [
        Row(**each | {"earlier": tuple(each["earlier"]), "relevant_ids": tuple(each["relevant_ids"])})
        for each in found
        if each["half"] == half and each["corpus"] == corpus
    ]


def pages(shared: Path, corpus: str) -> Iterable[SourceDocument]:
    """The pages of a corpus; their ``source`` ends with the id that a conversation names."""
    for row in _news(shared / "crawler") if corpus == "crawler" else _lines(shared / corpus / "corpus.jsonl"):
        yield SourceDocument(
            source=f"golden:{row['id']}", title=row["title"], text=row["text"], url=row.get("url") or ""
        )


def _lines(path: Path) -> Iterable[dict[str, str]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def _news(home: Path) -> Iterable[dict[str, str]]:
    for name in ("aeb", "readability"):
        with gzip.open(home / f"{name}_pages.jsonl.gz", "rt", encoding="utf-8") as lines:
            for page in map(json.loads, lines):
                text = page["expected_text"]
                if len(text) < _LEAST or _FILLER in text:
                    continue
                named = _TITLE.search(page["html"])
                title = page.get("title") or (" ".join(html.unescape(named.group(1)).split()) if named else "")
                yield {"id": page["id"][:10] if len(page["id"]) == 64 else page["id"], "title": title, "text": text}


async def asked_by_agent(session: Session, settings: Settings, row: Row) -> Asked:
    """The agent is asked every question in its turn."""
    talk = Conversation(session.connection, None, settings=settings.agent, style="", usage=session.usage)
    for question in row.earlier:
        await talk.ask(question, _unheard)
    answer = await talk.ask(row.question, _unheard)
    sent = dict(answer.tools[0].arguments) if answer.tools else {"query": row.question}
    return await _asked(session, row, sent)


async def asked_by_host(session: Session, row: Row) -> Asked:
    """A host sends what its user said before."""
    return await _asked(session, row, {"query": row.question, "history": [f"user: {each}" for each in row.earlier]})


async def _asked(session: Session, row: Row, arguments: dict[str, Any]) -> Asked:
    line = session.connection
    reply = (await line.call("search_kb", arguments)).structured or {}
    bare = (await line.call("search_kb", {"query": row.question})).structured or {}
    found = list(dict.fromkeys(hit["source"].partition(":")[2] for hit in reply["hits"]))
    return Asked(
        row=row,
        place=next((place for place, page in enumerate(found, start=1) if page in row.relevant_ids), 0),
        strong=reply["verdict"]["band"] == "strong",
        query=reply["query"],
        bare_query=bare["query"],
        gap=bool(reply["gap_id"]),
        reply=dict(reply),
    )


def _unheard(_event: Event) -> None:
    """Nobody listens."""


def figures(asked: Sequence[Asked]) -> Figures:
    def of(*kinds: str) -> list[Asked]:
        return [each for each in asked if each.row.kind in kinds]

    def share(found: Sequence[Asked], right: Callable[[Asked], bool]) -> float:
        return sum(map(right, found)) / len(found) if found else 0.0

    follow_ups, alone = of("follow_up"), of("alone")
    return Figures(
        follow_ups=len(follow_ups),
        first=share(follow_ups, lambda each: each.place == 1),
        third=share(follow_ups, lambda each: 1 <= each.place <= 3),
        wrong_strong=sum(each.wrong_strong for each in follow_ups),
        alone=len(alone),
        alone_first=share(alone, lambda each: each.place == 1),
        alone_changed=sum(each.changed for each in of("alone", "uncovered")),
        alone_wrong_strong=sum(each.wrong_strong for each in alone),
        uncovered=len(of("uncovered", "uncovered_follow_up")),
        uncovered_strong=sum(each.strong for each in of("uncovered", "uncovered_follow_up")),
        no_question=len(of("no_question")),
        no_question_strong=sum(each.strong for each in of("no_question")),
        no_question_gaps=sum(each.gap for each in of("no_question")),
    )
