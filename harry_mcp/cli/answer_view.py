"""An answer on the terminal: its text as it comes, the tools on the way, its sources and what it cost."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harry_mcp.agent.answers import Answer, Called, Calling, Event, Heard, Outcome, Withdrawn
from harry_mcp.cli.console import terminal
from harry_mcp.cli.spoken import spoken
from harry_mcp.errors import HarryError

if TYPE_CHECKING:
    from harry_mcp.agent.sources import Source


class AnswerView:
    """The answer goes to stdout; what happens on the way goes to stderr, dim where that is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._open = False
        self._shown = False

    def show(self, event: Event) -> None:
        if self._quiet:
            return
        match event:
            case Heard(text):
                self._write(text)
            case Withdrawn(why):
                if self._shown:
                    self.aside(f"(withdrawn{f': {why}' if why else ''})")
                self._shown = False
            case Calling(name, arguments):
                asked = next((str(value) for value in arguments.values()), "")
                self.aside(f"→ {name}  {_short(asked)}")
            case Called(use):
                # What went wrong for the agent itself is told as an error or a note.
                said = "" if use.by == "agent" and not use.ok else f"{_short(use.said, 200)}  "
                self.aside(f"{'✓' if use.ok else '✗'} {use.name}  {said}{use.seconds:.1f} s")

    def finish(self, answer: Answer) -> None:
        """What stands below the text."""
        if self._quiet:
            return
        self._end_line()
        self._shown = False
        if answer.sources:
            sys.stdout.write("\nSources\n" + "".join(f"{source_line(source)}\n" for source in answer.sources))
        for label, lines in (("Caveat", answer.placed_caveats), ("Note", answer.notes)):
            sys.stdout.write("".join(f"{label}: {spoken(line)}\n" for line in lines))
        sys.stdout.flush()
        self.aside(cost_line(answer))

    def tell(self, line: str) -> None:
        """A line beside the answers."""
        self._end_line()
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def refuse(self, error: HarryError) -> None:
        """What went wrong, where the conversation goes on after it."""
        self.tell(f"harry: {spoken(str(error))}")

    def aside(self, line: str) -> None:
        """A line on what happens on the way."""
        self._end_line()
        terminal(stderr=True).print(line, style="dim", markup=False, soft_wrap=True)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
        self._shown = True
        self._open = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._open:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._open = False


def source_line(source: Source) -> str:
    """A source in a line."""
    score = f"  {source.score:.2f}" if source.score >= 0 else ""
    kind = "" if source.kind == "document" else f"  ({source.kind})"
    return f"  [{source.number}] {source.title}{f'  {source.where}' if source.where else ''}{score}{kind}"


def cost_line(answer: Answer) -> str:
    """What kind of answer it is, who wrote it, tokens and cost in a line."""
    spent = answer.spent
    cost = (
        f"{spent.input_tokens:,} + {spent.output_tokens:,} tokens in {spent.calls} calls, ${spent.dollars:.4f}"
        if spent.calls
        else "no model asked, $0"
    )
    outcome = answer.outcome.value.replace("_", " ")
    verdict = f"{answer.verdict.band} {answer.verdict.score:.2f}"
    by = "" if answer.outcome in (Outcome.NOT_KNOWN, Outcome.OFFICIAL) else f" by {answer.written_by};"
    return f"{outcome}; verdict {verdict};{by} {cost}; {answer.seconds:.1f} s"


def _short(text: str, limit: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
