"""The commands in place of the tools of the same purpose, in messages that were written for agents."""

from __future__ import annotations

import re

# The longer phrase first. A tool that has no command here stays named as it is.
_COMMANDS = {
    "list_review_queue with tab recent": "harry curate list recent",
    "list_review_queue": "harry curate list",
    "review_documents with preview": "harry curate with --preview",
    "review_documents": "harry curate",
    "rollback_review": "harry curate undo",
    "search_kb": "harry search",
    "ingest_source": "harry ingest",
}
_TOOL = re.compile("|".join(rf"\b{phrase}\b" for phrase in _COMMANDS))
_UNDO = re.compile(r"\brollback_review with (act_\w+)")


def spoken(message: str) -> str:
    """A message as it is said at a terminal."""
    message = _UNDO.sub(r"`harry curate undo \1`", message)
    return _TOOL.sub(lambda found: f"`{_COMMANDS[found.group()]}`", message)
