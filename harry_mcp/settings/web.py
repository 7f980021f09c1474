"""The web, where the knowledge base does not know."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harry_mcp.settings.section import Fraction, Section


class WebSection(Section):
    """Web search through Tavily's API, with TAVILY_API_KEY, on the hosts that the profile allows."""

    budget: float = Field(
        default=8.0,
        ge=0.5,
        le=25,
        description="Seconds within which web_fallback answers, whatever the web does. Shorter loses slow answers; "
        "hosts give up after about 30.",
    )
    floor: Fraction = Field(
        default=0.65,
        description="Tavily's score under which a page is refused. Lower lets pages through that only share a word.",
    )
    results: int = Field(
        default=5,
        ge=1,
        le=10,
        description="Pages in one reply. Twice as many are asked for, since some are refused. More make it longer.",
    )
    chunks: int = Field(
        default=3, ge=1, le=10, description="Passages of one page. More let one page crowd out the others."
    )
    chunk_characters: int = Field(
        default=1200,
        ge=200,
        le=4000,
        description="Longest passage of a page. Shorter ones tear steps and tables apart.",
    )
    page_characters: int = Field(
        default=40_000,
        ge=1000,
        le=500_000,
        description="Characters of a page that are looked through. What stands behind them is never found; more costs "
        "time within the budget.",
    )
    reply_tokens: int = Field(
        default=5500,
        ge=300,
        le=20_000,
        description="Tokens of page text in one reply, estimated. Hosts cut replies off at about 25,000, some earlier.",
    )
    cache_seconds: int = Field(
        default=21_600,
        ge=0,
        description="How long the answer to a question is kept for the next one who asks it. 0 asks the web each time, "
        "which costs; longer serves pages that have changed since.",
    )
    daily_calls: int = Field(
        default=500,
        ge=0,
        description="Calls of the API in a day (UTC), by all processes of this database. Beyond it the web is left out "
        "and named. 0 sets no limit, and an agent in a loop can spend the plan.",
    )
    redirects: Literal["check", "require", "off"] = Field(
        default="check",
        description="Whether each page is asked where it leads before it is passed on: a page of an allowed host that "
        "redirects elsewhere is refused. With `check` a page that cannot be reached from here is passed on with a "
        "caveat; with `require` it is refused; `off` does not ask, and open redirects of allowed hosts get through.",
    )
    redirect_budget: float = Field(
        default=1.5,
        gt=0,
        le=10,
        description="Seconds for that, all pages together. Fewer leave more pages unchecked.",
    )
    gap_minutes: int = Field(
        default=15,
        ge=0,
        le=1440,
        description="How long after a search that missed a web search for the same question, without its search_id, "
        "counts as part of it. Shorter counts one asking twice; longer joins two askings.",
    )
    depth: Literal["basic", "advanced"] = Field(
        default="basic", description="How thoroughly Tavily searches. `advanced` costs twice as much and is slower."
    )
    base_url: str = Field(
        default="https://api.tavily.com",
        pattern=r"^https?://",
        description="Where the API is. A gateway of your own sees every question that the knowledge base missed.",
    )
    timeout: float = Field(
        default=6.0, gt=0, description="Seconds for one attempt. Too few lose answers that were on their way."
    )
    retries: int = Field(
        default=1, ge=0, le=5, description="Attempts after the first on 429, 5xx and a lost connection, in the budget."
    )
    failures: int = Field(
        default=5,
        ge=1,
        le=1000,
        description="Calls in a row that fail or are late until the service is left alone for a while. Fewer give up "
        "on a hiccup; with more, more questions wait for a service that is down.",
    )
    pause: float = Field(
        default=30.0,
        gt=0,
        description="Seconds that a failing service is left alone before one call tries it again. Longer does without "
        "it for longer when it is back.",
    )
    refused_pause: float = Field(
        default=300.0,
        gt=0,
        description="Seconds that the service is left alone when it refused the key. Fewer ask in vain.",
    )
    price: float = Field(
        default=0.008, ge=0, description="Dollars for one credit of the plan. The cost counters rest on it."
    )

    @property
    def patience(self) -> float:
        """Seconds for one answer with all retries, where the caller names none."""
        return self.budget
