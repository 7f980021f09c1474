"""The file that a knowledge base is exported to: JSON, one record a line.

The first line is the header, ``{"kind": "harry-export", "format": 1, ...}``; then come records,
``{"kind": TABLE, "row": {...}}``, each kind together, what others refer to first; the last line is
``{"kind": "end", "records": N}``, so that a file that was cut off is seen to be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harry_mcp.domain.search import EmbeddingSpace
from harry_mcp.errors import InputError

FORMAT = 1
HEADER = "harry-export"
END = "end"


class Space(BaseModel):
    """An embedding space as the header names it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    provider: str
    model: str
    dimension: int
    version: str

    @classmethod
    def of(cls, space: EmbeddingSpace) -> Space:
        return cls(provider=space.provider, model=space.model, dimension=space.dimension, version=space.version)


class Header(BaseModel):
    """What a file says of itself. ``numbers``: the highest number of each table that numbers its rows."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: str = HEADER
    format: int = FORMAT
    harry: str
    schema_number: int = Field(alias="schema", serialization_alias="schema")
    space: Space
    vectors: bool
    searches: bool
    revision: int
    numbers: dict[str, int]

    def line(self) -> str:
        return json.dumps(self.model_dump(by_alias=True), ensure_ascii=False)


@dataclass(slots=True)
class KindReport:
    """What became of the records of one kind. ``differing`` holds the keys of the first of those that are here
    otherwise, ``titles`` what the file calls them, where it does."""

    added: int = 0
    unchanged: int = 0
    different: int = 0
    differing: list[str] = field(default_factory=list[str])
    titles: dict[str, str] = field(default_factory=dict[str, str])

    def named(self) -> list[str]:
        """Those of ``differing`` for people, and how many more there are."""
        told = [f"{key} ({self.titles[key]})" if key in self.titles else key for key in self.differing]
        more = self.different - len(told)
        return [*told, f"and {more} more"] if more else told


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do."""

    header: Header
    kinds: Mapping[str, KindReport]

    @property
    def added(self) -> int:
        return sum(kind.added for kind in self.kinds.values())

    @property
    def different(self) -> int:
        return sum(kind.different for kind in self.kinds.values())


def read_header(value: Mapping[str, Any], *, schema: int) -> Header:
    """The header that a first line holds.

    Raises:
        InputError: it is from a later format or schema, or no header.
    """
    told, version = value.get("format"), value.get("harry", "?")
    if isinstance(told, int) and told > FORMAT:
        raise InputError(
            f"The file is in format {told} of harry {version}; this harry reads up to {FORMAT}. Install that version."
        )
    try:
        header = Header.model_validate(dict(value))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"The first line is no header of an export: `{where}`: {first['msg']}.") from error
    if header.schema_number > schema:
        raise InputError(
            f"The file comes from harry {version} with schema {header.schema_number}; this harry has {schema}. "
            "Install that version."
        )
    return header
