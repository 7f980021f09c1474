"""The secrets that replicas share, one for each purpose, so that what was sealed for one is nothing to another."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import RequestStateSecurity

from harry_mcp.server.state import ServerState, caller_in


def keys_for(purpose: str, keys: Sequence[str]) -> list[bytes]:
    """Keys of 32 bytes made of the shared ones, in their order; one of this process alone where there are none."""
    given = keys or (secrets.token_hex(32),)
    return [hmac.digest(key.encode("utf-8", "surrogatepass"), purpose.encode(), hashlib.sha256) for key in given]


def state_security(keys: Sequence[str]) -> RequestStateSecurity:
    """What a client carries from one round of a question to the next: sealed, and for the one who was asked alone."""
    return RequestStateSecurity(keys=keys_for("harry request state", keys), bind_principal=_asked)


def _asked(ctx: ServerRequestContext[ServerState]) -> str:
    return caller_in(ctx).caller
