"""Text as PostgreSQL takes it."""

from __future__ import annotations

import re

_LONGEST_ID = 200
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with a replacement character for NUL and for halves of surrogate pairs, which no column holds."""
    return _UNSTORABLE.sub("\ufffd", text)


def as_id(text: str) -> str:
    """What somebody gives for an id, as it is looked up: no id is longer."""
    return storable(text.strip())[:_LONGEST_ID]
