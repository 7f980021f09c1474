"""Whether a site has had enough of us: told from a page that is closed by refusals in a row."""

from __future__ import annotations

from harry_mcp.domain.crawls import Reason
from harry_mcp.ingest.crawl.pages import Finding

# Statuses with which a site says that it does not want us, or not now.
_STATUSES = frozenset({401, 403, 429, 503})
_SILENCE = frozenset({Reason.UNREACHABLE, Reason.TIMEOUT})


def is_refusal(finding: Finding) -> bool:
    return finding.status in _STATUSES or (finding.status == 0 and finding.reason in _SILENCE)


class Refusals:
    """Counts refusals in the order of the frontier.

    Requests overlap, so the first refusals of a block may stand before the last answers: ``window`` is how many
    findings lie between two that came at the same time.
    """

    def __init__(self, enough: int, window: int) -> None:
        self._enough = enough
        self._window = window
        self._place = 0
        self._row = 0
        self._since = 0
        self._refused: list[tuple[int, int]] = []

    def note(self, url_id: int, finding: Finding) -> bool:
        """Take a finding down; whether it is time to ask if the refusals are meant for all of us."""
        self._place += 1
        if is_refusal(finding):
            self._since = self._place if self._row == 0 else self._since
            self._row += 1
            self._refused.append((self._place, url_id))
        elif finding.status:
            self._row = 0
        start = self._since if self._row else self._place
        self._refused = [item for item in self._refused if item[0] >= start - self._window]
        return self._row >= self._enough

    def forgive(self) -> None:
        """They were meant for some pages only."""
        self._row = 0

    def ids(self) -> list[int]:
        """The addresses whose refusals belong to the present row."""
        return [url_id for _, url_id in self._refused]
