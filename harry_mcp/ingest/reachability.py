"""What a request that failed says: was a server there, or may it be our own network that is not?"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from typing import cast


def server_was_there(error: Exception) -> bool:
    """Whether it took the connection, refused it, or had no good certificate for it.

    False says nothing: a name that is not found, and a connection that does not come about, are the same when the site
    is gone and when our own network is.
    """
    import httpx

    if isinstance(error, httpx.ConnectError):
        answers = (ConnectionRefusedError, ConnectionResetError, ssl.SSLError)
        return any(isinstance(each, answers) for each in _causes(error))
    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout)


def silence(error: Exception) -> str:
    """Why there was no answer, as the end of a sentence about a site."""
    causes = list(_causes(error))
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return "it has no good certificate"
    if any(isinstance(each, ssl.SSLError) for each in causes):
        return "no encrypted connection to it comes about"
    if any(isinstance(each, ConnectionRefusedError) for each in causes):
        return "it refuses connections"
    return str(error) or type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for each in cast(BaseExceptionGroup[BaseException], error).exceptions:
                yield from _causes(each)
        error = error.__cause__ or error.__context__
