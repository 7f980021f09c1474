"""What a person said of answers: sent, or kept until it can be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from harry_mcp.agent.connection import Connection
from harry_mcp.agent.reporting_back import Report, ReportKind, delivered
from harry_mcp.domain.plain import one_line
from harry_mcp.errors import InputError, ServerUnavailable, ToolFailed

_NAMES = {
    ReportKind.UP: "Your praise",
    ReportKind.DOWN: "Your complaint",
    ReportKind.CORRECTION: "Your correction",
}


@dataclass(slots=True)
class Sent:
    """A report and what became of it. ``waits``: it may not have arrived. ``refused``: the server said why not."""

    report: Report
    said_at: datetime
    told: tuple[str, ...] = ()
    arrived: bool = False
    waits: bool = False
    refused: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.report.kind.value,
            "text": self.report.text,
            "question": self.report.about.question,
            "result_id": self.report.about.result_id,
            "said_at": self.said_at.isoformat(timespec="seconds"),
            "arrived": self.arrived,
            "told": list(self.told),
        }


class Outbox:
    """Reports in the order in which they were made."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.sent: list[Sent] = []

    @property
    def waiting(self) -> list[Sent]:
        return [each for each in self.sent if each.waits]

    async def send(self, report: Report) -> list[str]:
        """Send a report; what became of it, in sentences. One that fails is kept for :meth:`again`.

        Raises:
            ServerUnavailable: it could not be sent.
            ToolFailed: the server does not take it, as it is or at present.
        """
        entry = Sent(report, datetime.now(UTC))
        self.sent.append(entry)
        told = await self._deliver(entry)
        for each in self.waiting:
            # It was said anew, in words that the server takes.
            each.waits = each.waits and not (each.refused and each.report.replaced_by(report))
        return told

    async def again(self) -> list[str]:
        """Send what waits, in its order. What the server refuses a second time is given up.

        Raises:
            InputError: nothing waits.
            ServerUnavailable: the server is still away; all that waits is kept.
        """
        if not self.waiting:
            raise InputError("Nothing waits to be sent.")
        told: list[str] = []
        for entry in self.waiting:
            try:
                became = await self._deliver(entry)
            except ToolFailed as error:
                entry.waits = False
                became = [str(error)]
            except ServerUnavailable as error:
                if not told:
                    raise
                return [*told, str(error)]
            told += [f"{entry.report.line}  (on “{one_line(entry.report.about.question, 80)}”)", *became]
        return told

    async def _deliver(self, entry: Sent) -> list[str]:
        entry.waits, entry.refused = True, False
        try:
            told = await delivered(self._connection, entry.report)
        except ToolFailed as error:
            entry.refused, entry.told = True, (str(error),)
            raise
        except ServerUnavailable as error:
            entry.told = (str(error),)
            arrived = "was not sent" if self._connection.unsent else "may not have arrived"
            raise ServerUnavailable(
                f"{error} {_NAMES[entry.report.kind]} {arrived}; it is kept, and /again sends it."
            ) from error
        entry.waits, entry.arrived, entry.told = False, True, tuple(told)
        return told
