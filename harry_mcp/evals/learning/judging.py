"""What a reply was worth to whoever asked.

A reply is **right** when what an agent answers from it is the page that answers the question, or says what that page
says:

* an official answer is served, and it was made of a page that answers this question; or
* none is served, and either the first hit is such a page and the verdict is not weak, so that the agent answers from
  it, or a correction that quotes such a page came with the reply.

All else is wrong, also an official answer of another page above a right first hit, and also the honest "I do not know"
to somebody whose page is held out: he has no answer. A question that no page answers is right when the agent is sent
to the web and no official answer is served.

A correction or an official answer counts for the page that its text was made of; the simulation knows that, for it
wrote the text. Corrections of other pages that come with a right reply do not make it wrong here. They may mislead an
agent all the same, so they are counted (``stray``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from harry_mcp.domain.search import Band, NextAction, SearchResult
from harry_mcp.domain.verified import Match


class By(StrEnum):
    """What an agent answers from; nothing when it says that it does not know."""

    OFFICIAL = "official"
    PAGE = "page"
    CORRECTION = "correction"
    NOTHING = "nothing"


@dataclass(slots=True)
class Ledger:
    """Which page of the golden set stands behind what is stored: documents, corrections, official answers; and which
    question corrections, official answers and gaps are about."""

    documents: dict[str, str] = field(default_factory=dict[str, str])
    corrections: dict[str, str] = field(default_factory=dict[str, str])
    official: dict[str, str] = field(default_factory=dict[str, str])
    about: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A judged reply. ``sure``: the agent is told to answer without more ado (strong, or an official answer)."""

    right: bool
    by: By
    page: str
    band: Band
    escalated: bool
    sure: bool
    official: bool
    stray: bool

    @property
    def surely_wrong(self) -> bool:
        return self.sure and not self.right


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What came with a reply, as pages: that of the first hit, of the official answer (None where none is served), and
    of each correction; empty for a page that is not known."""

    first: str
    band: Band
    escalated: bool
    official: str | None = None
    told: tuple[str, ...] = ()


def judge(result: SearchResult, gold: frozenset[str], ledger: Ledger) -> Reply:
    """What a reply was worth. ``gold``: the pages that answer the question."""
    official = result.verified.response if result.verified.match is Match.EXACT else None
    served = Served(
        first=ledger.documents.get(result.hits[0].passage.document_id, "") if result.hits else "",
        band=result.verdict.band,
        escalated=result.verdict.next_action is NextAction.CALL_WEB_FALLBACK,
        official=ledger.official.get(official.id, "") if official else None,
        told=tuple(ledger.corrections.get(item.correction.id, "") for item in result.corrections),
    )
    return judged(served, gold)


def judged(served: Served, gold: frozenset[str]) -> Reply:
    """The judgement alone."""
    own = [page for page in served.told if page in gold]
    weak = served.band is Band.WEAK
    if served.official is not None:
        by, page = By.OFFICIAL, served.official
    elif own and (weak or served.first not in gold):
        by, page = By.CORRECTION, own[0]
    else:
        by, page = (By.NOTHING, "") if weak else (By.PAGE, served.first)
    return Reply(
        right=page in gold if gold else served.escalated and served.official is None,
        by=by,
        page=page,
        band=served.band,
        escalated=served.escalated,
        sure=served.official is not None or served.band is Band.STRONG,
        official=served.official is not None,
        stray=len(own) < len(served.told),
    )
