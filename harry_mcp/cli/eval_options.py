"""What the measuring commands share: the golden files, the progress line, and what models may cost."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harry_mcp.cli.console import terminal
from harry_mcp.errors import InputError
from harry_mcp.settings import Settings

if TYPE_CHECKING:
    from harry_mcp.evals.gates import Held
    from harry_mcp.evals.golden import GoldenSet

Corpus = Annotated[
    Path, typer.Option(help='JSONL of documents {"id", "title", "text", "url"?}; with a "doc_id" a row is a chunk.')
]
Queries = Annotated[
    Path, typer.Option(help='JSONL of questions {"id", "text", "relevant_ids", "answerable"?, "history"?}.')
]
Holdout = Annotated[
    Path | None, typer.Option(help='JSON {"removed_documents", "now_unanswerable"}: what to leave out of the corpus.')
]
Name = Annotated[str, typer.Option(help="What to call the golden set. Default: the folder and file of the questions.")]
Plot = Annotated[Path | None, typer.Option(help="A folder for the figures as a picture, PNG and SVG.")]
Yes = Annotated[bool, typer.Option("--yes", help="Go on without asking whatever the models will cost.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything for a script.")]


def named(name: str, queries: Path, holdout: Path | None) -> str:
    """The name given, or the one that the files have."""
    own = f"{queries.resolve().parent.name}/{queries.stem}"
    return name or (f"{own} ({holdout.stem})" if holdout else own)


@contextmanager
def watched() -> Generator[Callable[[str], None], None, None]:
    """A line on stderr that says what is being done; nothing where nobody watches."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = terminal(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("starting")
        yield lambda step: progress.update(task, description=step[:80])


def affordable(settings: Settings, golden: GoldenSet, *, yes: bool) -> None:
    """Refuse what costs more than the settings allow unasked.

    Raises:
        InputError: it does, and --yes was not given.
    """
    from harry_mcp.evals.models import dollars, reader

    cost = dollars(settings, golden)
    if cost >= settings.ingest.ask_above and not yes:
        raise InputError(
            f"Having {reader(settings)} read the passages of {len(golden.questions)} questions will cost up to "
            f"${cost:.2f}, over the ${settings.ingest.ask_above:.2f} of HARRY_INGEST__ASK_ABOVE. Pass --yes to "
            "allow it."
        )


def broken(gates: Sequence[Held]) -> bool:
    """Whether a gate does not hold; each that does not is named on stderr."""
    lost = [held for held in gates if not held.held]
    for held in lost:
        words = f"harry: the gate {held.gate} does not hold: {held.measured}."
        terminal(stderr=True).print(words, markup=False, soft_wrap=True)
    return bool(lost)
