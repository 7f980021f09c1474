"""Flags the documents that people blame, whatever the spelling of their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harry_mcp.loop.rated import named
from harry_mcp.stages.curate.flag import RotSignal, flag_rot
from harry_mcp.storage.curation import NamedDocument
from harry_mcp.storage.unit_of_work import UnitOfWork


async def flag_blamed(
    unit: UnitOfWork, addresses: Sequence[str], *, told_by: str, actor: str, detail: Mapping[str, object]
) -> list[tuple[NamedDocument, str]]:
    """The documents behind addresses, each with what was done, as the end of a sentence; empty where nothing was.

    ``told_by`` names who says it of what: said again, it is no new signal. Belongs into a transaction that begins with
    :meth:`KeywordIndex.lock`, as all do that change a document's status.
    """
    blamed = await named(unit, addresses) if addresses else {}
    before = await unit.curation.told_by(told_by, list(blamed)) if blamed else set[str]()
    done: list[tuple[NamedDocument, str]] = []
    for document in blamed.values():
        if document.id in before:
            done.append((document, ""))
            continue
        flagged = await flag_rot(
            unit, document.id, RotSignal.NEGATIVE_FEEDBACK, actor=actor, detail={"told_by": told_by, **detail}
        )
        done.append((document, "is flagged for review" if flagged else "was noted for review once more"))
    return done
