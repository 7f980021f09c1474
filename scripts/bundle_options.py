"""What scripts/bundle is told, checked before anything is written."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

# The form of a name in the registry's schema.
NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
SHORTEST_NAME, LONGEST_NAME = 3, 200
# The hosts of source code that the registry knows, and what it calls them.
SOURCES = {"github.com": "github", "gitlab.com": "gitlab"}


def chosen(description: str, out: Path, given: Sequence[str] | None = None) -> argparse.Namespace:
    """The options. What cannot be used ends the program with 2 and a sentence on what is wanted."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=folder, default=out, help="the folder; default: dist")
    parser.add_argument("--name", type=name, help="the name in the registry, io.github.OWNER/harry-mcp")
    parser.add_argument("--repository", type=repository, help="the address of the source")
    parser.add_argument("--bundle-url", type=bundle_url, help="the address that the bundle will have")
    found = parser.parse_args(given)
    for option in ("name", "repository", "bundle_url"):  # argparse checks a default that is a text as well
        setattr(found, option, getattr(found, option) or "")
    if found.bundle_url and not found.name:
        parser.error("--bundle-url is for server.json, which is written with --name alone: give both")
    return found


def name(text: str) -> str:
    """A name that the registry takes: whose it is, a slash, and what it is."""
    if not (SHORTEST_NAME <= len(text) <= LONGEST_NAME and NAME.fullmatch(text)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no name of the registry. Write io.github.OWNER/harry-mcp: letters, digits, dots and hyphens, "
            f"one slash, then the same and underscores, {LONGEST_NAME} characters at most"
        )
    return text


def repository(text: str) -> str:
    """The address of a repository on a host that the registry knows."""
    parts = _address(text)
    if source_of(text) == "" or not re.fullmatch(r"/[\w.-]+(/[\w.-]+)+/?", parts.path) or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no repository that the registry takes. Write https://github.com/OWNER/NAME or "
            "https://gitlab.com/OWNER/NAME"
        )
    return text


def bundle_url(text: str) -> str:
    """Where anybody will fetch the bundle."""
    parts = _address(text)
    if len(parts.path) < 2 or "mcp" not in text.lower():
        raise argparse.ArgumentTypeError(
            f"{text!r} names no file that the registry takes. Write the whole address of the bundle, in which mcp is "
            "to stand"
        )
    return text


def folder(text: str) -> Path:
    """A folder, or a place for one."""
    path = Path(text)
    if not text or (path.exists() and not path.is_dir()):
        raise argparse.ArgumentTypeError(f"{text!r} is no folder. Name one, or a place where it can be made")
    return path


def source_of(repository: str) -> str:
    """What the registry calls the host of a repository; empty for one that it does not know."""
    return SOURCES.get((urlsplit(repository).hostname or "").removeprefix("www."), "")


def _address(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        right = parts.scheme == "https" and bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        right = False
    if not right or not text.isascii() or any(character.isspace() or not character.isprintable() for character in text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address that begins with https://")
    return urlsplit(text)
