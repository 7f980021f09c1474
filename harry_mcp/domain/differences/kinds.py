"""What a comparison of two texts brings back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """In what two texts differ."""

    NUMBER = "number"
    UNIT = "unit"
    VERSION = "version"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"
    OPPOSITE = "opposite"
    DIRECTION = "direction"
    VARIANT = "variant"
    OBJECT = "object"


_SAYS = {
    Kind.NUMBER: "another number",
    Kind.UNIT: "another unit",
    Kind.VERSION: "another version",
    Kind.DATE: "another date",
    Kind.NAME: "another name",
    Kind.NEGATION: "one is negated",
    Kind.OPPOSITE: "the opposite",
    Kind.DIRECTION: "the other way round",
    Kind.VARIANT: "another platform, edition or format",
    Kind.OBJECT: "another thing",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One reason why two texts do not say the same. A side without a counterpart is an empty fragment.

    ``certain`` is False where the texts alone cannot tell another thing from another word for the same thing.
    """

    kind: Kind
    a: str
    b: str
    certain: bool = True

    def __str__(self) -> str:
        if self.a and self.b:
            return f"{_SAYS[self.kind]}: “{self.a}” and “{self.b}”"
        return f"{_SAYS[self.kind]}: “{self.a or self.b}” in one of them only"

    @property
    def turned(self) -> Difference:
        """The same for the two texts in the other order."""
        return Difference(self.kind, self.b, self.a, self.certain)


@dataclass(frozen=True, slots=True)
class Differences:
    """All reasons found. Empty does not prove that two texts mean the same: it says that nothing speaks against it."""

    found: tuple[Difference, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def blocking(self) -> tuple[Difference, ...]:
        """Reasons that stand whatever else is known."""
        return tuple(difference for difference in self.found if difference.certain)

    @property
    def uncertain(self) -> tuple[Difference, ...]:
        """Reasons that other evidence (documents found, a model) may confirm or take away."""
        return tuple(difference for difference in self.found if not difference.certain)
