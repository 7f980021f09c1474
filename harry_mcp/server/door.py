"""Who is let in over HTTP, whichever kind of token they bring."""

from __future__ import annotations

from harry_mcp.domain.people import Credential, Principal
from harry_mcp.errors import TokenRefused
from harry_mcp.server.issued_tokens import IssuedTokens
from harry_mcp.server.tokens import KnownTokens


class Door:
    """The tokens of the settings first, for that costs nothing; then those of the issuer, where there is one."""

    def __init__(self, known: KnownTokens, issued: IssuedTokens | None = None) -> None:
        self._known = known
        self._issued = issued

    async def let_in(self, presented: str) -> Credential:
        """Who presents this token.

        Raises:
            AccessError: nobody who is let in; the kinds tell why.
        """
        credential = self._known.holder(presented)
        if credential is not None:
            return credential
        if self._issued is None:
            raise TokenRefused
        return await self._issued.holder(presented)

    def still(self, credential: Credential) -> Principal | None:
        """Who it lets in as the settings are now; None when its token was taken out of them."""
        return self._known.named(credential.fingerprint) if credential.fingerprint else credential.principal
