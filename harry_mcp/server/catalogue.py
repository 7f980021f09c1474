"""Which tools there are, for whom, and what each does to the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from mcp_types import ToolAnnotations

from harry_mcp.domain.people import Role
from harry_mcp.server import apps
from harry_mcp.server.tools import (
    audit_trail,
    check_claim,
    curation_console,
    curation_digest,
    explain_search,
    ingest_source,
    ingestion_status,
    list_corrections,
    list_gaps,
    list_review_queue,
    list_verified,
    read_document,
    review_correction,
    review_documents,
    review_verified,
    rollback_review,
    run_rot_checks,
    search_kb,
    submit_correction,
    submit_feedback,
    verified_lookup,
    web_fallback,
)
from harry_mcp.settings import Settings


def _does(*, reads: bool, destroys: bool = False, repeats: bool = True, open_world: bool = False) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=reads, destructive_hint=destroys, idempotent_hint=repeats, open_world_hint=open_world
    )


_READS = _does(reads=True)
# It changes nothing that a reader sees; that a serving is counted is no change to undo.
_LOOKS_UP = _does(reads=True, repeats=False)
_READS_THE_WEB = _does(reads=True, open_world=True)
_ADDS = _does(reads=False)
_DECIDES = _does(reads=False, destroys=True)
_CHECKS = _does(reads=False, open_world=True)
# A document that changed at its source replaces what was stored of it.
_BRINGS_IN = _does(reads=False, destroys=True, open_world=True)


@dataclass(frozen=True, slots=True)
class Listing:
    """A tool's place in the list: its module holds the function of its name, its title and its description."""

    module: ModuleType
    annotations: ToolAnnotations
    role: Role = Role.READER
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        return self.module.__name__.rpartition(".")[2]

    @property
    def function(self) -> Callable[..., Any]:
        return getattr(self.module, self.name)

    @property
    def title(self) -> str:
        return self.module.TITLE

    @property
    def description(self) -> str:
        return self.module.DESCRIPTION


def role_of(listing: Listing, settings: Settings) -> Role:
    """The role that a tool takes; who may approve official answers is a setting."""
    approver = Role[settings.verify.approve.upper()]
    if listing.module is review_verified:
        return approver
    return min(listing.role, approver) if listing.module is list_verified else listing.role


# Claude Code hides tools behind a tool search unless they say that they are always wanted.
_ALWAYS: Mapping[str, Any] = {"anthropic/alwaysLoad": True}

TOOLS = (
    Listing(search_kb, _READS, meta=_ALWAYS),
    Listing(read_document, _READS),
    Listing(verified_lookup, _LOOKS_UP),
    Listing(check_claim, _READS),
    Listing(web_fallback, _READS_THE_WEB),
    Listing(submit_correction, _ADDS, Role.CONTRIBUTOR),
    Listing(submit_feedback, _ADDS, Role.CONTRIBUTOR),
    Listing(explain_search, _READS),
    Listing(list_review_queue, _READS, Role.CURATOR),
    Listing(review_documents, _DECIDES, Role.CURATOR),
    Listing(rollback_review, _DECIDES, Role.CURATOR),
    Listing(list_gaps, _READS, Role.CURATOR),
    Listing(audit_trail, _READS, Role.CURATOR),
    Listing(list_corrections, _READS, Role.CURATOR),
    Listing(review_correction, _DECIDES, Role.CURATOR),
    Listing(list_verified, _READS, Role.CURATOR),
    Listing(review_verified, _DECIDES, Role.CURATOR),
    Listing(run_rot_checks, _CHECKS, Role.CURATOR),
    Listing(curation_digest, _READS, Role.CURATOR),
    Listing(curation_console, _READS, Role.CURATOR, meta=apps.BOUND),
    Listing(ingest_source, _BRINGS_IN, Role.CURATOR),
    Listing(ingestion_status, _READS, Role.CURATOR),
)
