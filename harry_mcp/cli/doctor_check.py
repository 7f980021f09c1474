"""One line of what the doctor says."""

from __future__ import annotations

from dataclasses import dataclass

from harry_mcp.cli.ends import ExitCode, exit_code
from harry_mcp.errors import HarryError


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report. ``code``: how the command ends when this is wrong."""

    name: str
    ok: bool
    finding: str
    code: ExitCode = ExitCode.FAILED

    @classmethod
    def failed(cls, name: str, error: HarryError, where: str = "") -> Check:
        return cls(name, False, f"{where}{error}", exit_code(error))

    def as_json(self) -> dict[str, object]:
        return {"name": self.name, "ok": self.ok, "finding": self.finding}
