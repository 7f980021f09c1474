"""What a token's scopes allow: each role has one, and the widest counts."""

from __future__ import annotations

from collections.abc import Iterable

from harry_mcp.domain.people import Role

SCOPES = {
    "harry:read": Role.READER,
    "harry:contribute": Role.CONTRIBUTOR,
    "harry:curate": Role.CURATOR,
    "harry:admin": Role.ADMIN,
}
LEAST = "harry:read"


def role_of_scopes(scopes: Iterable[str]) -> Role | None:
    """The role of the widest scope; None when none of them is ours."""
    return max((SCOPES[scope] for scope in scopes if scope in SCOPES), default=None)
