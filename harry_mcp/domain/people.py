"""Who does something, and through what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum


class Role(IntEnum):
    """What one may do; each may all that the ones before it may."""

    READER = 1
    CONTRIBUTOR = 2
    CURATOR = 3
    ADMIN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A person or a program at work.

    ``subject`` is unique within ``via`` (stdio, http, cli, job). ``trusted``: what it submits is believed at once.
    """

    subject: str
    via: str
    role: Role
    trusted: bool

    def may(self, role: Role) -> bool:
        """Whether it may do what takes this role."""
        return self.role >= role

    @property
    def name(self) -> str:
        """How records name it."""
        return f"{self.via}:{self.subject}"


def reported_by(caller: Principal, reporter: str) -> Principal:
    """The person whom a caller speaks for; the caller where none is named. Rights and trust stay the caller's."""
    name = " ".join(reporter.split())
    return replace(caller, subject=f"{caller.subject}/{name}") if name else caller
