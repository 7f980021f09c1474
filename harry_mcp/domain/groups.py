"""Which passages of a document stand for one subject: a page is one, a book is many."""

from __future__ import annotations

# Every so many passages of one document count as a document of their own.
_PASSAGES_A_GROUP = 16


def group_of(document_id: str, ordinal: int) -> tuple[str, int]:
    """The group of a passage, by its document and its place in it."""
    return document_id, ordinal // _PASSAGES_A_GROUP
