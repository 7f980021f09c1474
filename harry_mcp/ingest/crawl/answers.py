"""What an HTTP answer other than a page means for the address that gave it."""

from __future__ import annotations

from harry_mcp.domain.crawls import Decision, Outcome, Reason, Visit
from harry_mcp.ingest.crawl.pages import Finding
from harry_mcp.ingest.fetching import why_not

# Refusals that rest on what a page said, so that they stand as long as the page answers 304.
_SAID_BY_THE_PAGE = frozenset(
    {Reason.NOINDEX, Reason.LOGIN, Reason.ERROR_PAGE, Reason.EMPTY, Reason.SOFT_404, Reason.NOT_TEXT}
)

_REPLACED = frozenset({Reason.SAME_CONTENT, Reason.CANONICAL})
_NOT_STORED = frozenset({Outcome.FAILED, Outcome.REFUSED})
_NO_PAGE_ANY_MORE = frozenset({Reason.NOT_FOUND, Reason.GONE, Reason.SOFT_404, Reason.NOINDEX})


def failure(status: int) -> Finding:
    """The finding for a status that is neither a page, a redirect nor "not modified"."""
    if status in (404, 410):
        reason = Reason.NOT_FOUND if status == 404 else Reason.GONE
    elif status in (401, 403, 407, 451):
        reason = Reason.FORBIDDEN
    elif status == 429:
        reason = Reason.RATE_LIMITED
    elif status >= 500:
        reason = Reason.SERVER_ERROR
    else:
        reason = Reason.STATUS
    return Finding(outcome=Outcome.FAILED, reason=reason, detail=why_not(status), status=status, links=None)


def condition(visit: Visit) -> dict[str, str]:
    """The headers that ask for a page only if it changed; none when what it was the last time is not there any more,
    or would be made otherwise now."""
    if not visit.current or not (visit.stored or _told_last_time(visit)):
        return {}
    headers = {"if-none-match": visit.etag, "if-modified-since": visit.last_modified}
    return {name: value for name, value in headers.items() if value}


def not_modified(visit: Visit) -> Finding:
    """What a 304 means: what the page was the last time it still is."""
    told = _told_last_time(visit)
    return Finding(
        outcome=Outcome(visit.outcome) if told else Outcome.UNCHANGED,
        reason=visit.reason if told else "",
        target=visit.target if told else "",
        links=None,
        fingerprint=visit.fingerprint,
        status=304,
        etag=visit.etag,
        last_modified=visit.last_modified,
    )


def _told_last_time(visit: Visit) -> bool:
    """Whether the last visit ended with something else than a stored page, because of what the page said."""
    return visit.outcome == Outcome.DUPLICATE or (
        visit.outcome in (Outcome.REFUSED, Outcome.GONE) and visit.reason in _SAID_BY_THE_PAGE | _REPLACED
    )


def decide(visit: Visit, finding: Finding) -> Decision:
    """The decision on an address. What was stored and now is elsewhere or is no page any more is *gone*: a proposal."""
    outcome, reason = finding.outcome, finding.reason
    if visit.shown:
        if outcome is Outcome.REDIRECTED:
            outcome, reason = Outcome.GONE, Reason.MOVED
        elif outcome is Outcome.DUPLICATE or (outcome in _NOT_STORED and reason in _NO_PAGE_ANY_MORE):
            outcome = Outcome.GONE
    failed = outcome is Outcome.FAILED  # the next run may still ask whether the page changed since it was stored
    return Decision(
        id=visit.id,
        outcome=outcome,
        reason=reason,
        detail=finding.detail,
        target=finding.target,
        status=finding.status,
        size=finding.size,
        etag=visit.etag if failed else finding.etag,
        last_modified=visit.last_modified if failed else finding.last_modified,
        fingerprint=visit.fingerprint if failed else finding.fingerprint,
    )
