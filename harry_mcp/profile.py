"""The domain profile: the one file that knows the subject.

A profile is TOML::

    subject = "HubSpot"
    answer_style = "Short and practical. Name the menu path."
    allowed_domains = ["hubspot.com"]

    [glossary]
    "ops hub" = ["Operations Hub"]

    [topics]
    CRM = ["Contacts", "Companies"]
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harry_mcp.errors import SettingsError


class DomainProfile(BaseModel):
    """What is particular to one subject. The empty profile fits any."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: str = ""
    answer_style: str = ""
    allowed_domains: tuple[str, ...] = ()
    glossary: dict[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    topics: dict[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]])


def load_profile(path: Path | None) -> DomainProfile:
    """Read a profile; no path gives the empty one.

    Raises:
        SettingsError: the file is not there, is not TOML, or has a field that no profile has.
    """
    if path is None:
        return DomainProfile()
    try:
        return DomainProfile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SettingsError(f"The profile {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The profile {path} is not TOML in UTF-8: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"The profile {path} has a fault at `{where}`: {first['msg']}.") from error
