"""Is a page still there? Asks the addresses of one host after the other; private addresses only where that is
allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from harry_mcp.domain.sources import Probe
from harry_mcp.ingest.visiting import Visit
from harry_mcp.settings import CurateSection


class SourceProber:
    """Asks hosts for their pages."""

    def __init__(
        self,
        settings: CurateSection,
        *,
        user_agent: str,
        allow_private: bool,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._settings = settings
        self._user_agent = user_agent
        self._allow_private = allow_private
        self._clock = clock

    @property
    def allow_private(self) -> bool:
        """Whether addresses of a local network are asked too."""
        return self._allow_private

    async def visit(self, addresses: Sequence[str], *, until: float) -> AsyncGenerator[tuple[str, Probe], None]:
        """What the addresses of one host answer, as the answers come. Those that are not come to until ``until`` (of
        the monotonic clock), or because the host asked for silence, are left out."""
        visit = Visit(self._settings, self._user_agent, allow_private=self._allow_private, clock=self._clock)
        waiting = list(reversed(addresses))
        asking: dict[asyncio.Task[Probe], str] = {}
        try:
            while waiting or asking:
                while waiting and len(asking) < self._settings.probe_per_host and not visit.shut(until):
                    address = waiting.pop()
                    asking[asyncio.create_task(visit.probe(address), name="harry-probe")] = address
                if not asking:
                    return
                done, _ = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    address, answer = asking.pop(task), task.result()
                    visit.heard(answer)
                    yield address, answer
                if visit.mute:
                    for address in (*asking.values(), *waiting):
                        yield address, replace(visit.mute, reason=f"its host is silent: {visit.mute.reason}")
                    return
        finally:
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
            await visit.close()
