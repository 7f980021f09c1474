"""Who does something, and through what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from harry_mcp.domain.plain import one_line

_LONGEST_NAME = 200


class Role(IntEnum):
    """What one may do; each may all that the ones before it may."""

    READER = 1
    CONTRIBUTOR = 2
    CURATOR = 3
    ADMIN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A person or a program at work.

    ``subject`` is unique within ``via`` (stdio, http, jwt, cli, job). ``trusted``: what it submits is believed at once.
    ``speaks_for`` names the person whose words it passes on, or is empty.
    """

    subject: str
    via: str
    role: Role
    trusted: bool
    speaks_for: str = ""

    def may(self, role: Role) -> bool:
        """Whether it may do what takes this role."""
        return self.role >= role

    @property
    def name(self) -> str:
        """How records name it."""
        return f"{self.caller}/{self.speaks_for}" if self.speaks_for else self.caller

    @property
    def caller(self) -> str:
        """The name of who calls, whoever's words it passes on. Limits hold for it, for people are easily made up."""
        return f"{self.via}:{self.subject}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What let somebody in. ``ends``: when it does by itself, in seconds of the epoch; None: never.

    ``fingerprint`` names a token of the settings, so that what was begun with one ends when it is taken out of them.
    It is empty for a token of an issuer, which ends by itself.
    """

    principal: Principal
    ends: float | None = None
    fingerprint: str = ""


def reported_by(caller: Principal, reporter: str) -> Principal:
    """The caller with the person whose words it passes on. Rights, trust and limits stay the caller's.

    One that is not trusted speaks for itself alone, or it could count as many people.
    """
    name = one_line(reporter, _LONGEST_NAME)
    return replace(caller, speaks_for=name) if name and caller.trusted else caller
