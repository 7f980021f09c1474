"""How the knowledge base notices that it rots, and what is done about it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harry_mcp.settings.section import Fraction, Positive, Section


class CurateSection(Section):
    """Stage 5: the signals that flag a document."""

    run_seconds: float = Field(
        default=600.0,
        gt=0,
        description="Seconds that one run of a check may take; what is left is done by the next. Fewer need more runs.",
    )
    stale_days: Positive = Field(
        default=30,
        description="Days without a change or a review from which a document counts as old. Fewer flag fresh pages.",
    )
    query_days: Positive = Field(
        default=30, description="Days of the gap log that old documents are held against. More flag for old worries."
    )
    stale_overlap: Fraction = Field(
        default=0.6,
        description="Share of an unanswered question, its words weighed by their rarity, that an old document's "
        "keywords must cover. Lower flags pages that only share a word with it.",
    )
    stale_words: Positive = Field(
        default=2, description="Words that they must share at least. 1 flags every page that has the product's name."
    )
    stale_documents: Positive = Field(
        default=2, description="Documents that one question may flag, the best first. More flags whole chapters."
    )
    distance: Fraction = Field(
        default=0.30,
        description="Jaccard distance of the words of two texts of one address over which they contradict each other. "
        "Lower flags every edit.",
    )
    fact: Fraction = Field(
        default=0.75,
        description="Score from which a changed sentence counts as a fact that was superseded. Lower flags rewordings; "
        "`harry eval facts` shows precision and recall at each.",
    )
    near: Fraction = Field(
        default=0.80,
        description="Cosine from which passages of two documents are held against each other. Lower compares pages "
        "about other things, and takes longer.",
    )
    neighbours: int = Field(
        default=5, ge=0, le=50, description="Passages that each is held against at most. 0 compares versions only."
    )
    judge: Literal["auto", "off"] = Field(
        default="auto",
        description="Whether Claude, where there is ANTHROPIC_API_KEY, judges changed facts. `off` takes the rules.",
    )
    judge_calls: int = Field(
        default=200,
        ge=0,
        description="Calls of it in the life of a process; beyond, the rules decide. More cost more, at a whole crawl.",
    )
    judge_timeout: float = Field(
        default=20.0, gt=0, description="Seconds for one call. Fewer fall back on the rules more often."
    )
    probe_urls: Positive = Field(
        default=2000, description="Addresses asked in one run at most; each is due once a day. The rest waits."
    )
    probe_hosts: int = Field(
        default=16, ge=1, le=256, description="Hosts that are asked at the same time. More load a small line."
    )
    probe_per_host: int = Field(
        default=2, ge=1, le=16, description="Requests to one host at a time. More get us blocked."
    )
    probe_delay: float = Field(
        default=0.5, ge=0, le=60, description="Seconds between two requests to one host. 0 asks all it can bear."
    )
    probe_timeout: float = Field(
        default=15.0, gt=0, le=120, description="Seconds for one request. Fewer take slow sites for silent ones."
    )
    longest_wait: float = Field(
        default=30.0,
        ge=0,
        le=3600,
        description="The longest Retry-After, in seconds, that a run waits for. Beyond it the host is left alone until "
        "then, and its addresses stay due.",
    )
    bad_days: int = Field(
        default=3,
        ge=2,
        le=60,
        description="Different days in a row on which an address must fail without a clear answer (a refusal, a server "
        "error, silence) before its document is flagged. Fewer flag for a bad weekend.",
    )
    history_days: int = Field(
        default=180, ge=30, description="Days that answers are kept as evidence. Fewer cannot show since when."
    )
