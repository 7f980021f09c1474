"""When a claim counts as supported or contradicted."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harry_mcp.settings.section import Fraction, Positive, Section


class ClaimSection(Section):
    """`check_claim`: which sentences are compared with a claim, and when one speaks for or against it."""

    passages: int = Field(
        default=8, ge=1, le=50, description="Passages whose sentences are looked at. Fewer overlook evidence."
    )
    sentences: Positive = Field(
        default=16,
        description="Sentences, those with most of the claim's words, that are compared in full. Each costs a vector.",
    )
    support_words: Fraction = Field(
        default=0.85,
        description="Share of the claim's words that a sentence, with its title and headings, must hold to support it. "
        "Lower supports claims that say more than the sentence.",
    )
    support_cosine: Fraction = Field(
        default=0.75,
        description="Cosine from which it does. Lower takes the same words about other things for support.",
    )
    contradict_words: Fraction = Field(
        default=0.85,
        description="The same share for a contradiction, without what differs. Lower finds contradictions between "
        "sentences about different things.",
    )
    contradict_cosine: Fraction = Field(default=0.70, description="Cosine from which a sentence may contradict.")
    quotes: int = Field(default=4, ge=1, le=20, description="Quotes in a reply at most.")
    characters: int = Field(
        default=600, ge=50, le=5000, description="A longer claim is refused with advice: it is more than one statement."
    )
    model: Literal["auto", "off"] = Field(
        default="auto",
        description="Whether a model judges the passages: `auto` where there is one. Without one, only claims in "
        "nearly the words of the documents are settled. It costs a call for each check.",
    )
    budget: float = Field(
        default=5.0,
        gt=0,
        description="Seconds for the model. Beyond them the words alone decide, and the reply says so.",
    )
