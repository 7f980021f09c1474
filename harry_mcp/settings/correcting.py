"""What is done with corrections: who is believed, and which reach an agent."""

from __future__ import annotations

from pydantic import Field

from harry_mcp.settings.section import Fraction, Positive, Section


class CorrectSection(Section):
    """Stage 4: corrections."""

    candidates: Positive = Field(
        default=20,
        description="Nearest active corrections that are ranked with the question. Fewer lose some.",
    )
    relevance: Fraction = Field(
        default=0.38,
        description="Relevance from which a correction goes to the agent. Lower brings lessons about other things, "
        "higher loses questions in other words. `harry eval corrections` shows both.",
    )
    asked: Fraction = Field(
        default=0.85,
        description="Cosine from which a question may be the one that a correction was made on, if nothing in the two "
        "differs. Lower brings lessons on questions that only read alike, higher loses other words for the same.",
    )
    answers: Fraction = Field(
        default=0.55,
        description="Relevance from which a correction is the answer to a question, and not only near to it, if no "
        "page has more of what is asked. Lower heads answers with lessons about other things, higher buries some.",
    )
    questions: int = Field(
        default=8,
        ge=0,
        description="Questions that are kept of one correction at most. 0: lessons that say “it” are not found again.",
    )
    most: int = Field(default=3, ge=0, le=20, description="Corrections that go to the agent at most. 0 brings none.")
    tokens: Positive = Field(
        default=800, description="Tokens of all of them together. More crowds out what was asked about."
    )
    merge: Fraction = Field(
        default=0.92,
        description="Cosine from which two lessons of a topic may be one, if nothing in them differs.",
    )
    characters: int = Field(
        default=1000,
        ge=100,
        le=10_000,
        description="Longest part of a correction. A longer one is refused with advice.",
    )
    per_hour: Positive = Field(
        default=200, description="Corrections that one author may submit in an hour. Fewer stop an eager tester."
    )
    trust_new_authors: bool = Field(
        default=False,
        description="Whether a first correction of an author over HTTP is active at once. True lets strangers speak.",
    )
    broad_share: Fraction = Field(
        default=0.25,
        description="Share of recent questions that a correction may answer; one that would head more of them waits "
        "for review. 1 lets all through.",
    )
    broad_sample: int = Field(
        default=100,
        ge=0,
        description="Recent questions that it is measured on; under 20 it is not. 0: never.",
    )
    promote_reporters: Positive = Field(
        default=3, description="People (not clicks) whose report turns a correction into a draft document."
    )
    stale_days: Positive = Field(
        default=180,
        description="Days after which a correction that no answer used is deprecated. Fewer forget seasonal ones.",
    )
