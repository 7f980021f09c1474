"""What a crawl did: every address that it met, each in exactly one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harry_mcp.domain.crawls import Entry, Outcome, Reason

WHY: dict[str, str] = {
    Reason.PRIVATE: "a private address",
    Reason.OFF_SITE: "another site",
    Reason.PREFIX: "outside of the path that was asked for",
    Reason.DEPTH: "more links away than the depth limit",
    Reason.PAGES: "beyond the page limit",
    Reason.BYTES: "beyond the limit of bytes",
    Reason.NOFOLLOW: "linked only with nofollow",
    Reason.NOT_TEXT: "not text",
    Reason.TRAP: "an address that repeats itself",
    Reason.ROBOTS: "forbidden by robots.txt",
    Reason.NOINDEX: "the page asks not to be indexed",
    Reason.LOGIN: "a login form",
    Reason.ERROR_PAGE: "an error text in place of a page",
    Reason.EMPTY: "no text",
    Reason.NOT_FOUND: "there is no page there",
    Reason.GONE: "the page is gone for good",
    Reason.SOFT_404: "a page that says that there is no page",
    Reason.UNLINKED: "neither linked nor listed any more",
    Reason.MOVED: "it redirects elsewhere now",
    Reason.FORBIDDEN: "the site refuses access",
    Reason.RATE_LIMITED: "the site asks to slow down",
    Reason.SERVER_ERROR: "the site has an error",
    Reason.STATUS: "an answer that is no page",
    Reason.TIMEOUT: "too slow",
    Reason.TOO_LARGE: "too large",
    Reason.UNREACHABLE: "no connection",
    Reason.CIRCLE: "its redirects run in a circle",
    Reason.TOO_MANY_REDIRECTS: "too many redirects",
    Reason.UNREADABLE: "it cannot be read",
    Reason.NOT_STORED: "it could not be stored",
    Reason.SAME_CONTENT: "it has the same content as another page",
    Reason.CANONICAL: "it names another page as its canonical one",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Because:
    """A reason: its code, and the words for a person."""

    reason: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """A run, or what has been done of it: ``seen`` is the sum of all lists.

    ``not_modified`` counts the pages among them that were not sent again (304). ``blocked`` are the addresses that
    were not read because the site stopped answering us (``stopped`` says how); the next run begins with them.
    ``gone`` documents are kept, and proposed for archiving. ``template_contexts`` says for which pages the model did
    not give all contexts. ``spent`` is what contexts cost, in dollars, of the ``allowance`` that may be spent without
    asking (-1: somebody was asked).
    """

    site: str
    prefix: str
    run: int
    resumed: bool
    seen: int
    new: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    unchanged: list[str] = field(default_factory=list[str])
    duplicates: dict[str, str] = field(default_factory=dict[str, str])
    redirected: dict[str, str] = field(default_factory=dict[str, str])
    gone: dict[str, Because] = field(default_factory=dict[str, Because])
    refused: dict[str, Because] = field(default_factory=dict[str, Because])
    failed: dict[str, Because] = field(default_factory=dict[str, Because])
    blocked: list[str] = field(default_factory=list[str])
    stopped: str = ""
    warnings: list[str] = field(default_factory=list[str])
    not_modified: int = 0
    requests: int = 0
    chunks_written: int = 0
    template_contexts: dict[str, str] = field(default_factory=dict[str, str])
    spent: float = 0.0
    allowance: float = 0.0

    @property
    def partial(self) -> bool:
        """Whether something that belongs to the site was not read, or not made as it was asked for."""
        return bool(self.failed or self.blocked or self.warnings or self.template_contexts)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What the database does not know of a run."""

    site: str
    prefix: str
    run: int
    resumed: bool
    stopped: str
    warnings: Sequence[str]
    requests: int
    chunks_written: int
    template_contexts: dict[str, str]
    spent: float
    allowance: float


def report_of(entries: Iterable[Entry], facts: RunFacts) -> CrawlReport:
    """Sort the addresses of a run into their places."""
    rows = list(entries)
    done = [row for row in rows if not row.waiting]

    def urls(outcome: Outcome) -> list[str]:
        return [row.url for row in done if row.outcome == outcome]

    def targets(outcome: Outcome) -> dict[str, str]:
        return {row.url: row.target for row in done if row.outcome == outcome}

    def because(outcome: Outcome) -> dict[str, Because]:
        return {row.url: Because(reason=row.reason, why=_why(row)) for row in done if row.outcome == outcome}

    return CrawlReport(
        site=facts.site,
        prefix=facts.prefix,
        run=facts.run,
        resumed=facts.resumed,
        seen=len(rows),
        new=urls(Outcome.NEW),
        changed=urls(Outcome.CHANGED),
        unchanged=urls(Outcome.UNCHANGED),
        duplicates=targets(Outcome.DUPLICATE),
        redirected=targets(Outcome.REDIRECTED),
        gone=because(Outcome.GONE),
        refused=because(Outcome.REFUSED),
        failed=because(Outcome.FAILED),
        blocked=[row.url for row in rows if row.waiting],
        stopped=facts.stopped,
        warnings=list(facts.warnings),
        not_modified=sum(row.status == 304 for row in done),
        requests=facts.requests,
        chunks_written=facts.chunks_written,
        template_contexts=facts.template_contexts,
        spent=facts.spent,
        allowance=facts.allowance,
    )


def _why(entry: Entry) -> str:
    words = entry.detail or WHY.get(entry.reason, entry.reason)
    return f"{words}: {entry.target}" if entry.target else words
