"""One page from the web: bounded in size, time and redirects, and never from a private address unless allowed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from harry_mcp.errors import SourceError
from harry_mcp.ingest.addresses import canonical_address, resolve_public
from harry_mcp.ingest.fetched import LARGEST, Body, FetchedPage, Largest
from harry_mcp.ingest.unpacking import ACCEPTED

if TYPE_CHECKING:
    import httpx

_REDIRECTS = 5
MOVED = frozenset({301, 302, 303, 307, 308})
_AGENT = "harry-mcp/0.1 (knowledge base; reads one page at a time)"
_ACCEPT = "text/html,text/markdown,text/plain,*/*;q=0.5"
_REASONS = {
    401: "it asks for a login",
    403: "the site refuses access",
    404: "there is no page there",
    410: "the page is gone for good",
    429: "the site asks to slow down; try again later",
}


FetchPage = Callable[[str], FetchedPage]
"""Fetches one page or raises SourceError with a sentence for a person."""


def fetch_page(
    url: str, *, allow_private: bool = False, timeout: float = 30.0, largest: Largest = LARGEST
) -> FetchedPage:
    """Fetch one page. ``timeout`` (seconds) bounds the whole of it, redirects and a slow body included.

    Each address on the way is resolved, checked, and connected to by the number that was checked.
    """
    import httpx

    deadline = time.monotonic() + timeout
    address = canonical_address(url)
    # Proxies of the environment would resolve names again, out of reach of the check.
    with httpx.Client(trust_env=False, follow_redirects=False) as client:
        for _ in range(_REDIRECTS + 1):
            page = _step(client, address, deadline, allow_private=allow_private, largest=largest)
            if isinstance(page, FetchedPage):
                return page
            address = page
    raise SourceError(f"{url} cannot be read: it redirects more than {_REDIRECTS} times.")


def _step(
    client: httpx.Client, address: str, deadline: float, *, allow_private: bool, largest: Largest
) -> FetchedPage | str:
    """The page, or the address that it redirects to."""
    import httpx

    try:
        request = _request(client, address, deadline, allow_private=allow_private)
        with closing(client.send(request, stream=True)) as response:
            if response.status_code in MOVED and "location" in response.headers:
                return canonical_address(urljoin(address, response.headers["location"]))
            if response.status_code != 200:
                raise SourceError(f"{address} cannot be read: {why_not(response.status_code)}.")
            return _page(response, address, deadline, largest)
    except httpx.TimeoutException as error:
        raise SourceError(f"{address} cannot be read: the site did not answer in time.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceError(f"{address} cannot be read: {str(error) or type(error).__name__}.") from error


def _request(client: httpx.Client, address: str, deadline: float, *, allow_private: bool) -> httpx.Request:
    """A request to the number that the name was checked to have."""
    number = resolve_public(*host_and_port(address), allow_private=allow_private)
    headers = {"user-agent": _AGENT}
    return pinned_request(client, address, number, headers=headers, timeout=max(0.05, deadline - time.monotonic()))


def host_and_port(address: str) -> tuple[str, int]:
    """Where the server of a canonical address listens."""
    parts = urlsplit(address)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def pinned_request(
    client: httpx.Client | httpx.AsyncClient, address: str, number: str, *, headers: dict[str, str], timeout: float
) -> httpx.Request:
    """A GET of ``address`` that connects to ``number`` and resolves no name, for the host that was named."""
    parts = urlsplit(address)
    host, port = host_and_port(address)
    target = f"[{number}]" if ":" in number else number
    query = f"?{parts.query}" if parts.query else ""
    return client.build_request(
        "GET",
        f"{parts.scheme}://{target}:{port}{parts.path}{query}",
        headers={"host": parts.netloc, "accept": _ACCEPT, "accept-encoding": ACCEPTED, **headers},
        extensions={"sni_hostname": host},  # the certificate is checked against the name, not the number
        timeout=timeout,
    )


def why_not(status: int) -> str:
    """What a status other than 200 means to a person."""
    return _REASONS.get(status, f"the site answers with status {status}")


def _page(response: httpx.Response, address: str, deadline: float, largest: Largest) -> FetchedPage:
    with Body(address, response, largest) as body:
        too_large = SourceError(f"{address} cannot be read: it is larger than {body.largest // 1024} KB.")
        if body.declared_too_large:
            raise too_large
        try:
            fits = _read(response, body, deadline)
        except SourceError as error:
            raise SourceError(f"{address} cannot be read: {error}.") from error
        if not fits:
            raise too_large
        return body.page()


def _read(response: httpx.Response, body: Body, deadline: float) -> bool:
    for packed in response.iter_raw():
        if not body.add(packed):
            return False
        if time.monotonic() > deadline:
            raise SourceError("the site did not send it in time")
    body.end()
    return True
