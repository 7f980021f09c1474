"""What the sections of the settings have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A frozen group of settings; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
