"""The only module that touches the process's environment."""

from __future__ import annotations

import getpass
import os


def forbid_telemetry() -> None:
    """Keep onnxruntime from writing a device id under HOME and sending events: it reads this when it is imported."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def child_environment(**changes: str) -> dict[str, str]:
    """This process's environment with changes, for a subprocess."""
    return {**os.environ, **changes}


def user_name() -> str:
    """The name of the operating system's user, for records of who did something; "user" where there is none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "user"
