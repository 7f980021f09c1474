"""How a command ends: its exit codes, and which error has which."""

from __future__ import annotations

from enum import IntEnum

from harry_mcp.errors import (
    EvalError,
    HarryError,
    InputError,
    ProviderError,
    SettingsError,
    SourceError,
    StorageError,
    ToolFailed,
)

STOPPED = "harry: stopped. What was written is whole and stays.\n"


class ExitCode(IntEnum):
    """How a command ends."""

    OK = 0
    FAILED = 1
    USAGE = 2
    DATABASE = 3
    PROVIDER = 4
    PARTIAL = 5
    GATE = 6
    INTERRUPTED = 130
    CLOSED = 141
    TERMINATED = 143


def exit_code(error: HarryError) -> ExitCode:
    """The code of an error's kind, also where a server told it to our client."""
    if isinstance(error, ToolFailed):
        return _TOLD.get(error.kind, ExitCode.FAILED)
    kinds = (
        ((InputError, SettingsError, SourceError, EvalError), ExitCode.USAGE),
        ((StorageError,), ExitCode.DATABASE),
        ((ProviderError,), ExitCode.PROVIDER),
    )
    return next((code for classes, code in kinds if isinstance(error, classes)), ExitCode.FAILED)


_TOLD = {"input": ExitCode.USAGE, "database": ExitCode.DATABASE, "service": ExitCode.PROVIDER}
