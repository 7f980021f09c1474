"""Who sits at the terminal."""

from __future__ import annotations

from harry_mcp.domain.people import Principal, Role
from harry_mcp.settings import Settings, user_name


def user_of(settings: Settings) -> Principal:
    """The user of this machine, in the role that the settings give."""
    return Principal(subject=user_name(), via="cli", role=Role[settings.role.upper()], trusted=True)
