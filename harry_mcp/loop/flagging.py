"""Flags the documents that people blame, whatever the spelling of their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harry_mcp.domain.corrections import Correction
from harry_mcp.loop.rated import named
from harry_mcp.stages.curate.flag import RotSignal, flag_rot
from harry_mcp.stages.curate.signals.feedback import saying
from harry_mcp.storage.signals import AddressedDocument
from harry_mcp.storage.unit_of_work import UnitOfWork


async def flag_blamed(
    unit: UnitOfWork, addresses: Sequence[str], *, told_by: str, actor: str, detail: Mapping[str, object]
) -> list[tuple[AddressedDocument, str]]:
    """The documents behind addresses, each with what was done, as the end of a sentence; empty where nothing was.

    ``told_by`` names who says it of what: said again, it is no new signal. Belongs into a transaction that begins with
    :meth:`KeywordIndex.lock`, as all do that change a document's status.
    """
    done: list[tuple[AddressedDocument, str]] = []
    for document in (await named(unit, addresses)).values():
        flagging = await flag_rot(
            unit, document.id, RotSignal.NEGATIVE_FEEDBACK, actor=actor, detail=detail, evidence=told_by
        )
        noted = "was noted for review once more" if flagging.logged else ""
        done.append((document, "is flagged for review" if flagging else noted))
    return done


async def flag_source(unit: UnitOfWork, correction: Correction, url: str, *, actor: str) -> None:
    """Flag the documents behind the address that a correction names, once for each person who does (CUR-4)."""
    await flag_blamed(
        unit,
        [url] if url else [],
        told_by=saying("correction", correction.id, actor),
        actor=actor,
        detail={"correction_id": correction.id, "comment": correction.lesson},
    )
