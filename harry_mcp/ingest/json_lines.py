"""Files of JSON lines that people bring."""

from __future__ import annotations

import json
from typing import Any, cast

from harry_mcp.errors import InputError


def parsed(number: int, line: str) -> dict[str, Any]:
    """A line as the object that it must be.

    Raises:
        InputError: it is none.
    """
    try:
        value = json.loads(line)
    except ValueError as error:
        raise InputError(f"Line {number} is no JSON ({error}). Nothing was imported.") from error
    if not isinstance(value, dict):
        raise InputError(f"Line {number} is no JSON object. Nothing was imported.")
    return cast(dict[str, Any], value)
