"""How sites are read."""

from __future__ import annotations

from pydantic import Field

from harry_mcp.settings.section import Positive, Section


class CrawlSection(Section):
    """How a site is crawled: how politely, how far, and what is given up on."""

    user_agent: str = Field(
        default="harry-mcp/0.1 (knowledge base crawler)",
        min_length=3,
        pattern=r"^[A-Za-z_-]+(?:[ /].*)?$",
        description="How we name ourselves. The word before the first slash is what robots.txt is asked about; "
        "another robot's name breaks its rules, and sites block whom they cannot tell.",
    )
    concurrency: int = Field(
        default=4, ge=1, le=32, description="Requests to one site at a time. More gets us blocked by small sites."
    )
    delay: float = Field(
        default=0.05,
        ge=0,
        le=60,
        description="Seconds between two requests if robots.txt names no longer delay. 0 asks a site all it can bear.",
    )
    longest_delay: float = Field(
        default=60.0,
        ge=0,
        description="A site whose crawl-delay is longer, in seconds, is refused with a sentence: it would take weeks.",
    )
    timeout: float = Field(
        default=30.0,
        gt=0,
        le=600,
        description="Seconds for one page, its body included. Too few lose slow pages; too many let one hold us up.",
    )
    retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="Times a page is asked for again after a server error or a lost connection. "
        "0 loses pages to a hiccup.",
    )
    retry_pause: float = Field(
        default=1.0, ge=0, le=60, description="Seconds before the first retry; doubled for each more. 0 hammers."
    )
    longest_wait: float = Field(
        default=120.0,
        ge=0,
        le=3600,
        description="The longest Retry-After, in seconds, that is waited for. Beyond it the page is given up.",
    )
    blocked_after: int = Field(
        default=5,
        ge=1,
        le=1000,
        description="Refusals in a row after which the start page is asked whether the site blocks us. "
        "Higher goes on asking a site that has said no.",
    )
    depth: int = Field(
        default=20,
        ge=0,
        le=1000,
        description="Links from the start page to the farthest page. Lower cuts a site off, and says so; "
        "higher lets endless calendars run on to the page limit.",
    )
    pages: Positive = Field(
        default=10_000, description="Pages asked for in one run. The addresses that it leaves out are reported."
    )
    site_bytes: Positive = Field(
        default=2_000_000_000, description="Bytes read in one run. The addresses that it leaves out are reported."
    )
    sitemap_urls: Positive = Field(
        default=100_000,
        description="Addresses taken from a site's sitemaps. Fewer cut a large site off, with a warning; "
        "more need memory.",
    )
