"""Is it the sites that do not answer, or our own network? Answers that leave it open wait until one settles it."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from harry_mcp.domain.sources import Probe, SourceState

# Hosts that must lead to one place before it is taken for the network's own.
_EVERY_SITE = 3
_NO_NETWORK = (
    "No site could be reached, so this machine seems to have no network. Nothing was held against any document; run "
    "the check again later."
)
_CAPTURED = (
    "Every site redirects to {host}, as in a network that wants a login first. Nothing was held against any document; "
    "run the check again later."
)


@dataclass(slots=True)
class Network:
    """What the answers of a run say about the network that they came through."""

    settled: bool = False
    reached: bool = False
    held: list[tuple[str, Probe]] = field(default_factory=list[tuple[str, Probe]])

    def takes(self, address: str, answer: Probe) -> bool:
        """Whether an answer counts; else it waits in ``held``.

        A site that says anything of its own settles that the network is there. Silence does not, nor does a redirect to
        another site, which a network gives in the name of all sites.
        """
        if answer.outcome is SourceState.SKIPPED:
            return True
        self.reached |= bool(answer.status) or answer.reached
        self.settled |= (bool(answer.status) or answer.reached) and not answer.location
        if not self.settled:
            self.held.append((address, answer))
        return self.settled

    def fault(self) -> str:
        """Why none of the answers counts, in two sentences; empty when they do."""
        if self.settled or not self.held:
            return ""
        if not self.reached:
            return _NO_NETWORK
        hosts = {urlsplit(address).netloc.lower() for address, _ in self.held}
        places = {urlsplit(answer.location).netloc.lower() for _, answer in self.held if answer.location}
        return _CAPTURED.format(host=min(places)) if len(hosts) >= _EVERY_SITE and len(places) == 1 else ""
