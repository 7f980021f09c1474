"""What an HTTP server answered last: the SDK says of a refusal that there was an error, people want to know which."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from harry_mcp.domain.plain import one_line
from harry_mcp.providers.wire import seconds_to_wait

if TYPE_CHECKING:
    import httpx2

_LONGEST_BODY = 10_000
_BUSY = (429, 503)


@dataclass(frozen=True, slots=True)
class Response:
    """``status`` 0: there was none. ``wait``: the seconds of Retry-After, -1 without. ``said``: its own words, or
    where it sends on to."""

    status: int = 0
    wait: float = -1.0
    said: str = ""

    @property
    def busy(self) -> bool:
        """Whether it asks to come again later."""
        return self.status == 429 or (self.status in _BUSY and self.wait >= 0)

    @classmethod
    async def of(cls, response: httpx2.Response) -> Response:
        """Only refusals are read, and those only where they are short."""
        status = response.status_code
        if status < 400:
            return cls(status, said=one_line(response.headers.get("location", ""), 300))
        wait = seconds_to_wait(response.headers)
        return cls(status, -1.0 if wait is None else wait, await _words(response))


async def _words(response: httpx2.Response) -> str:
    """What a refusal in JSON says, in a line; empty where it says nothing for people."""
    length = response.headers.get("content-length", "")
    if "json" not in response.headers.get("content-type", "") or not length.isdigit() or int(length) > _LONGEST_BODY:
        return ""
    try:
        told: Any = json.loads(await response.aread())
    except ValueError:
        return ""
    said = cast(dict[str, Any], told).get("error") if isinstance(told, dict) else None
    return one_line(said, 300).rstrip(". ") if isinstance(said, str) else ""
