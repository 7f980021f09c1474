"""What came of checking a claim."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from harry_mcp.domain.claims import Stance
from harry_mcp.domain.search import SearchResult


class ClaimVerdict(StrEnum):
    """What the knowledge base says of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_COVERED = "not_covered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words of a document or of a correction, as they stand there.

    ``differs`` says what keeps them from saying the same as the claim, or is empty; ``similarity`` is their cosine, 0
    when there is none. A correction has a ``correction_id`` and no document.
    """

    stance: Stance
    text: str
    title: str
    url: str
    source: str
    updated_at: datetime
    differs: str = ""
    similarity: float = 0.0
    heading: str = ""
    document_id: str = ""
    chunk_id: str = ""
    caveats: tuple[str, ...] = ()
    correction_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A verdict with its reason and the quotes that it rests on, the strongest first. ``caveats`` are to be told."""

    verdict: ClaimVerdict
    reason: str
    quotes: tuple[Quote, ...] = ()
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCheck:
    """A claim and what the knowledge base says of it. ``search`` is the one that it rests on, and names the check.

    ``judged_by`` is a model's name, or "words"; ``degraded`` names what was down, that of the search included.
    """

    claim: str
    finding: Finding
    judged_by: str
    search: SearchResult
    degraded: tuple[str, ...] = ()
