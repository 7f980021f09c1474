"""Web search through Tavily's API: the only importer of its SDK.

The SDK drops the headers of a refusal, and takes an answer without results for one that has none. So it is given an
HTTP client that looks at each answer before the SDK does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from harry_mcp.domain.web import WebPage
from harry_mcp.errors import ProviderError, ProviderNotConfigured, ProviderTimeout
from harry_mcp.ports import Completion
from harry_mcp.providers.line import Failed, Line
from harry_mcp.providers.usage import UsageMeter
from harry_mcp.providers.wire import may_pass, seconds_to_wait, short
from harry_mcp.settings import WebSection

if TYPE_CHECKING:
    import httpx
    from tavily import AsyncTavilyClient

# The API refuses longer questions, and more results.
LONGEST_QUESTION = 400
MOST_RESULTS = 20
# Beyond this an answer is no list of pages. The pages of a real one are read within the budget anyway.
_LARGEST_ANSWER = 50_000_000
# Statuses of a request that is the caller's own fault: no sign that the service is down.
_BLAMELESS = (400, 422)
_CREDITS = {"basic": 1.0, "advanced": 2.0}


class TavilySearch:
    """The search of Tavily's API. The SDK is imported at the first question."""

    def __init__(self, key: str, settings: WebSection, usage: UsageMeter | None = None) -> None:
        self._key = key
        self._settings = settings
        self._usage = usage or UsageMeter()
        self._http: httpx.AsyncClient | None = None
        self._line = Line(self._connect, settings, name="Tavily", key=key)

    @property
    def name(self) -> str:
        return f"tavily/{self._settings.depth}"

    async def load(self) -> None:
        """Import the SDK now instead of at the first question."""
        await self._line.load()

    async def search(
        self, question: str, *, hosts: Sequence[str], results: int, timeout: float | None = None
    ) -> list[WebPage]:
        async def attempt(client: AsyncTavilyClient) -> list[WebPage]:
            answer = await self._asked(client, question, hosts, results)
            self._usage.add(self.name, Completion(text=""), dollars=self._credits(answer) * self._settings.price)
            return _pages(answer["results"])

        return await self._line.call(attempt, timeout=timeout)

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def _asked(
        self, client: AsyncTavilyClient, question: str, hosts: Sequence[str], results: int
    ) -> dict[str, Any]:
        import httpx
        from tavily import errors as tavily

        try:
            return await client.search(  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
                question[:LONGEST_QUESTION],
                search_depth=self._settings.depth,
                max_results=min(results, MOST_RESULTS),
                include_domains=list(hosts),
                include_raw_content="markdown",
                include_answer=False,
                include_images=False,
                include_usage=True,
                timeout=self._settings.timeout,
            )
        except tavily.TimeoutError as error:
            slow = ProviderTimeout("Tavily did not answer in time. Try again later.")
            raise Failed(slow, passing=True) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            gone = ProviderError(f"Tavily cannot be reached at {self._settings.base_url}: {short(error)}.")
            raise Failed(gone, passing=True) from error

    def _credits(self, answer: dict[str, Any]) -> float:
        """What the answer says that it cost, else what one of this depth costs."""
        usage: Any = answer.get("usage")
        said: Any = cast(dict[str, Any], usage).get("credits") if isinstance(usage, dict) else None
        known = isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said < math.inf
        return float(said) if known else _CREDITS[self._settings.depth]

    def _connect(self) -> AsyncTavilyClient:
        import httpx
        from tavily import AsyncTavilyClient

        if not (self._key.isascii() and self._key.isprintable()):
            raise ProviderNotConfigured("TAVILY_API_KEY holds characters that no key has. Check the key.")
        s = self._settings
        self._http = httpx.AsyncClient(
            base_url=s.base_url,
            timeout=s.timeout,
            headers={"authorization": f"Bearer {self._key}", "content-type": "application/json"},
            event_hooks={"response": [_checked]},
        )
        return AsyncTavilyClient(api_key=self._key, client=self._http, client_source="harry-mcp")


async def _checked(response: httpx.Response) -> None:
    """Raises :class:`Failed` for an answer that is no list of pages."""
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > _LARGEST_ANSWER:
        raise Failed(ProviderError("Tavily answered far more than pages."))
    await response.aread()
    status = response.status_code
    if status != 200:
        raise _refused(status, response)
    body = _json(response)
    if not isinstance(body, dict) or not isinstance(cast(dict[str, Any], body).get("results"), list):
        raise Failed(ProviderError("Tavily answered what is no list of pages."))


def _refused(status: int, response: httpx.Response) -> Failed:
    why = _reason(response)
    if status in (401, 403):
        return Failed(ProviderNotConfigured(f"TAVILY_API_KEY is refused ({status}): {why}. Check the key."))
    if status in (402, 432, 433):
        return Failed(ProviderNotConfigured(f"The plan of TAVILY_API_KEY is used up ({status}): {why}."))
    return Failed(
        ProviderError(f"Tavily failed with status {status}: {why}."),
        passing=may_pass(status),
        retry_after=seconds_to_wait(response.headers),
        blameless=status in _BLAMELESS,
    )


def _reason(response: httpx.Response) -> str:
    """What the service says about it: ``{"detail": {"error": "..."}}``, or something like it."""
    found = _json(response)
    for name in ("detail", "error", "message"):
        found = cast(dict[str, Any], found).get(name, found) if isinstance(found, dict) else found
    return short(found) if isinstance(found, str) and found.strip() else "it says no more"


def _json(response: httpx.Response) -> object:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _pages(items: list[Any]) -> list[WebPage]:
    pages = [page for item in items if (page := _page(item)) is not None]
    if items and not pages:
        raise Failed(ProviderError("Tavily answered what is no list of pages."))
    return pages


def _page(item: Any) -> WebPage | None:
    """A page, nothing taken on trust; None for what has no address."""
    fields = cast(dict[str, Any], item) if isinstance(item, dict) else {}

    def text(name: str) -> str:
        value = fields.get(name)
        return value if isinstance(value, str) else ""

    score = fields.get("score")
    known = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    return (
        WebPage(
            url=text("url"),
            title=text("title"),
            score=float(score) if known and score is not None else 0.0,
            snippet=text("content"),
            content=text("raw_content"),
        )
        if text("url")
        else None
    )
