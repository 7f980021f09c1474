"""The entry point of ``harry``: every way in which a command ends, whatever it did."""

from __future__ import annotations

import atexit
import gc
import sys

from harry_mcp.cli.ends import STOPPED, ExitCode
from harry_mcp.cli.streams import prepare_streams
from harry_mcp.errors import HarryError


def main() -> None:
    """Run the command line."""
    # All is closed by the end and the system takes the memory back. Looking through it took a fifth of a short command.
    atexit.register(gc.freeze)
    try:
        prepare_streams()
        _run()
    except KeyboardInterrupt:
        sys.stderr.write(STOPPED)
        raise SystemExit(ExitCode.INTERRUPTED) from None


def _run() -> None:
    # The import takes half a second, in which Ctrl-C counts already.
    from harry_mcp.cli.commands import app
    from harry_mcp.cli.console import fail

    try:
        try:
            app(prog_name="harry", standalone_mode=True)
        finally:
            sys.stdout.flush()
    except HarryError as error:
        fail(error)
    except (SystemExit, BrokenPipeError) as leaving:
        if _had_enough(leaving):
            raise SystemExit(ExitCode.CLOSED) from None
        if leaving.__context__ is not None and isinstance(leaving.__context__.__cause__, KeyboardInterrupt):
            sys.stderr.write(STOPPED)  # Typer says nothing of one that came while no event loop ran
        raise


def _had_enough(cause: BaseException | None) -> bool:
    """Whether a reader of our output left, which Typer and Rich tell as a failure, each in its own way."""
    while cause is not None and not isinstance(cause, BrokenPipeError):
        cause = cause.__context__
    return cause is not None


if __name__ == "__main__":
    main()
