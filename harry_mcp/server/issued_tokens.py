"""Tokens of an issuer: JWTs (RFC 9068) that are checked here, by the issuer's public keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import jwt
from jwt import exceptions as faults

from harry_mcp.domain.people import Credential
from harry_mcp.errors import ScopeMissing, TokenRefused
from harry_mcp.server.issuer_keys import ALGORITHMS, IssuerKeys
from harry_mcp.server.scopes import role_of_scopes
from harry_mcp.server.tokens import principal_of
from harry_mcp.settings import AuthSection

_LONGEST = 16_384
_SHAPE = re.compile(r"[\w-]+\.[\w-]+\.[\w-]*", re.ASCII)
_REQUIRED = ("exp", "iss", "aud", "sub")
_LONGEST_SUBJECT = 200
# A whole number of JSON may be larger than any moment.
_NEVER = 1e12
_WORDS: tuple[tuple[type[Exception], str], ...] = (
    (faults.ExpiredSignatureError, "The token has expired."),
    (faults.ImmatureSignatureError, "The token is not valid yet."),
    (faults.InvalidAudienceError, "The token is for another server."),
    (faults.InvalidIssuerError, "The token comes from another issuer."),
    (faults.InvalidSignatureError, "The token's signature is wrong."),
    (faults.MissingRequiredClaimError, "The token lacks one of exp, iss, aud and sub."),
)


class IssuedTokens:
    """Lets holders of one issuer's tokens in."""

    def __init__(self, settings: AuthSection, audience: str, keys: IssuerKeys) -> None:
        self._settings = settings
        self._audience = settings.audience or audience
        self._keys = keys

    async def holder(self, presented: str) -> Credential:
        """Who presents this token.

        Raises:
            TokenRefused: it is no token of the issuer for this server, or not one now.
            ScopeMissing: it is, and allows nothing here.
            IssuerUnreachable: the key that would tell cannot be fetched.
        """
        claims = await self._claims(presented)
        subject = claims["sub"]
        if not subject.strip() or len(subject) > _LONGEST_SUBJECT or not subject.isprintable():
            raise TokenRefused("The token's sub cannot be used as a name.")
        role = role_of_scopes(_scopes(claims))
        if role is None:
            raise ScopeMissing
        # Not "http": a name that the issuer gave is not the one of a token in the settings.
        principal = principal_of(subject, role, "jwt", self._settings)
        return Credential(principal=principal, ends=min(claims["exp"], _NEVER) + self._settings.leeway)

    async def _claims(self, presented: str) -> Mapping[str, Any]:
        if len(presented) > _LONGEST or _SHAPE.fullmatch(presented) is None:
            raise TokenRefused
        try:
            header = jwt.get_unverified_header(presented)
        except faults.PyJWTError as error:
            raise TokenRefused from error
        algorithm, key_id = header.get("alg"), header.get("kid", "")
        if algorithm not in ALGORITHMS or not isinstance(key_id, str):
            raise TokenRefused(f"The token is not signed by one of {', '.join(ALGORITHMS)}.")
        key = await self._keys.find(key_id, algorithm)
        if key is None:
            raise TokenRefused("The token is signed by a key that its issuer does not have.")
        try:
            # What the header says about keys (jku, jwk, x5u) is not looked at; the algorithm is the key's own.
            return jwt.decode(
                presented,
                key.key,
                algorithms=[key.algorithm],
                audience=self._audience,
                issuer=self._settings.issuer,
                leeway=self._settings.leeway,
                options={"require": list(_REQUIRED)},
            )
        except (faults.PyJWTError, ValueError, OverflowError) as error:
            raise TokenRefused(next((words for kind, words in _WORDS if isinstance(error, kind)), "")) from error


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    """The scopes of a token: ``scope`` as the standard has it, or ``scp`` as some issuers do."""
    given = claims.get("scope", claims.get("scp", ""))
    if isinstance(given, str):
        return given.split()
    return [each for each in cast(list[Any], given) if isinstance(each, str)] if isinstance(given, list) else []
