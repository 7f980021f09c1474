"""What every command shares: the terminal, the event loop, and how an error ends."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

from harry_mcp.cli.ends import STOPPED, ExitCode, exit_code
from harry_mcp.cli.spoken import spoken
from harry_mcp.errors import HarryError

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")


def terminal(*, stderr: bool = False) -> Console:
    """Rich's console. Data goes to stdout, progress and errors to stderr."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work to its end, or to the signal that ends it; either way everything is closed in order.

    psycopg cannot use Windows' proactor loop, so that platform gets the selector.
    """
    selector = asyncio.SelectorEventLoop if sys.platform == "win32" else None
    try:
        with asyncio.Runner(loop_factory=selector) as runner:
            return runner.run(_until_terminated(work))
    except asyncio.CancelledError:
        raise typer.Exit(ExitCode.TERMINATED) from None
    except KeyboardInterrupt:
        sys.stderr.write(STOPPED)
        raise typer.Exit(ExitCode.INTERRUPTED) from None


async def _until_terminated(work: Coroutine[Any, Any, T]) -> T:
    """SIGTERM ends the work as Ctrl-C does. Its default would leave the embedded PostgreSQL running."""
    if sys.platform != "win32":
        task = asyncio.current_task()
        if task is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


def fail(error: HarryError) -> NoReturn:
    """Print what is wrong and what to do, on one line whatever the width, and end with the code of its kind."""
    message = " ".join(line.strip() for line in spoken(str(error)).splitlines())
    terminal(stderr=True).print(f"[bold red]harry:[/] {_escaped(message)}", soft_wrap=True)
    raise SystemExit(exit_code(error))


def print_json(value: Any) -> None:
    """One JSON document on stdout, for scripts."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
