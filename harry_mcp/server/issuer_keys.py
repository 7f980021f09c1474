"""The keys of a token issuer (JWKS, RFC 7517), fetched when one is missing, and seldom."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import httpx
from cryptography.exceptions import UnsupportedAlgorithm
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from harry_mcp.errors import IssuerUnreachable
from harry_mcp.settings import AuthSection

log = logging.getLogger(__name__)

# Signatures by a private key alone: with a shared secret (HS*) whoever can check a token could make one.
ALGORITHMS = ("RS256", "ES256", "EdDSA")
_MOST_BYTES = 262_144
_MOST_KEYS = 64
_LEAST_RSA_BITS = 2048
# What reading a key that is none ends in: the library looks for few faults itself.
_NO_KEY = (PyJWTError, UnsupportedAlgorithm, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError)
_PLAIN = {"Accept": "application/json", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class IssuerKey:
    """A public key and the one signature that it checks. ``id`` may be empty."""

    id: str
    algorithm: str
    key: PyJWK


class IssuerKeys:
    """The keys of one address. A key that is known goes on to be used while the address does not answer."""

    def __init__(self, settings: AuthSection, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._keys: tuple[IssuerKey, ...] = ()
        self._fetched = self._tried = float("-inf")
        self._reachable = True
        self._one_fetch = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None

    async def find(self, key_id: str, algorithm: str) -> IssuerKey | None:
        """The key of an id; without an id, the only one of its algorithm. None: the issuer has no such key.

        Raises:
            IssuerUnreachable: it is not known here, and the keys cannot be fetched.
        """
        key = self._known(key_id, algorithm)
        if key is not None:
            if self._clock() - self._fetched >= self._settings.keys_seconds and not self._one_fetch.locked():
                # Beside the request: nobody waits for an issuer that is slow.
                self._refreshing = asyncio.create_task(self._fetch(), name="harry-issuer-keys")
            return key
        await self._fetch()
        key = self._known(key_id, algorithm)
        if key is None and not self._reachable:
            raise IssuerUnreachable
        return key

    async def fault(self) -> str:
        """Why the keys cannot be fetched now, or are of no use; empty when they can."""
        try:
            return "" if await self._read() else "none of them can be used here"
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError) as error:
            return str(error) or ("it gave no keys" if isinstance(error, ValueError) else type(error).__name__)

    def _known(self, key_id: str, algorithm: str) -> IssuerKey | None:
        fitting = [key for key in self._keys if key.algorithm == algorithm and key_id in (key.id, "")]
        return fitting[0] if len(fitting) == 1 else None

    async def _fetch(self) -> None:
        """Fetch them, unless that was tried a moment ago. Those that come together wait for one fetch."""
        async with self._one_fetch:
            if self._clock() - self._tried < self._settings.pause_seconds:
                return
            try:
                self._keys = await self._read()
                self._fetched, self._reachable = self._clock(), True
            except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError, RecursionError) as error:
                self._reachable = False
                log.warning("the keys at %s cannot be fetched: %s", self._settings.jwks_url, type(error).__name__)
            finally:
                # Counted from its end: those that waited for a slow one are not each to start another.
                self._tried = self._clock()

    async def _read(self) -> tuple[IssuerKey, ...]:
        body = bytearray()
        async with (
            asyncio.timeout(self._settings.timeout * 2),
            httpx.AsyncClient(timeout=self._settings.timeout) as client,
            client.stream("GET", self._settings.jwks_url, headers=_PLAIN) as answer,
        ):
            # A redirect is none of the 2xx: the address is to be the issuer's own. What is packed all the same may
            # unpack to any size.
            if not answer.is_success or answer.headers.get("content-encoding", "identity") != "identity":
                raise ValueError
            async for piece in answer.aiter_raw():
                body += piece
                if len(body) > _MOST_BYTES:
                    raise ValueError
        return _usable(json.loads(body))


def _usable(document: Any) -> tuple[IssuerKey, ...]:
    listed = cast(dict[str, Any], document).get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError
    keys = (_key(each) for each in cast(list[Any], listed)[:_MOST_KEYS])
    return tuple(key for key in keys if key is not None)


def _key(listed: Any) -> IssuerKey | None:
    """A key that signs in a way that is taken; None for all others, which issuers publish as well."""
    if not isinstance(listed, dict):
        return None
    fields = cast(dict[str, Any], listed)
    if fields.get("kty") not in ("RSA", "EC", "OKP") or fields.get("use", "sig") != "sig":
        return None
    try:
        key = PyJWK.from_dict(fields)
    except (*_NO_KEY, ValueError):
        return None
    weak = fields["kty"] == "RSA" and key.key.key_size < _LEAST_RSA_BITS
    if key.algorithm_name not in ALGORITHMS or weak:
        return None
    return IssuerKey(str(fields.get("kid", "")), key.algorithm_name, key)
