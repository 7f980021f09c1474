"""The file of tokens: a line for each holder, name:role:digest."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import get_args

from harry_mcp.errors import SettingsError
from harry_mcp.settings.authorizing import RoleName, token_line

Line = tuple[str, str, str]
_COMMENT = re.compile(r"(?:^|\s)#.*")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def lines_of(path: Path) -> list[Line]:
    """Name, role and digest of each line.

    Raises:
        SettingsError: it cannot be read, or a line is none; which, and why.
    """
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise SettingsError(
            f"There is no file of tokens {path}. Correct HARRY_AUTH__TOKENS_FILE, or make it: `harry token new NAME "
            f"--role ROLE --file {path}`."
        ) from error
    except IsADirectoryError as error:
        raise SettingsError(f"{path} is a folder. Name the file of tokens in HARRY_AUTH__TOKENS_FILE.") from error
    except PermissionError as error:
        raise SettingsError(
            f"The file of tokens {path} may not be read by this user. It holds digests alone: `chmod a+r` is safe."
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"The file of tokens {path} is not UTF-8 text.") from error
    except (OSError, RuntimeError) as error:  # the second for a home that nobody has
        why = getattr(error, "strerror", None) or error
        raise SettingsError(
            f"The file of tokens {path} cannot be read: {why}. Correct HARRY_AUTH__TOKENS_FILE."
        ) from error
    return _parsed(path, text)


def append_line(path: Path, line: str) -> None:
    """Add a holder to the file, which is made where there is none.

    Raises:
        SettingsError: the file cannot be used or written, or holds the name already.
    """
    path = path.expanduser()
    name = line.partition(":")[0]
    if path.exists() and name in {each[0] for each in lines_of(path)}:
        raise SettingsError(f"{path} has a token for {name} already. Take its line out first, or choose another name.")
    try:
        with path.open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            begun = False
            if size:
                file.seek(size - 1)
                begun = file.read(1) != b"\n"
            file.write(f"{chr(10) if begun else ''}{line}\n".encode())
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror or error}.") from error


def _parsed(path: Path, text: str) -> list[Line]:
    found: list[Line] = []
    names: dict[str, int] = {}
    digests: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        said = _COMMENT.sub("", line).strip()
        if not said:
            continue
        token = token_line(said)
        if token is None:
            # Not quoted: it may be the token itself.
            raise SettingsError(f"Line {number} of {path} {_fault(said)}.")
        for known, what, word in ((names, token[0], "name"), (digests, token[2], "digest")):
            if first := known.setdefault(what, number) - number:
                raise SettingsError(
                    f"Lines {number + first} and {number} of {path} have one {word}. Give each holder a name and a "
                    "token of its own."
                )
        found.append(token)
    return found


def _fault(line: str) -> str:
    """What is wrong with a line; of its words only those of a role are told."""
    form = "is not name:role:digest, as `harry token new` prints it"
    if _TOKEN.fullmatch(line) and not _DIGEST.fullmatch(line):
        return f"{form}; it looks like a token itself, which is for its holder alone"
    parts = line.split(":")
    if len(parts) != 3:
        return form
    roles = get_args(RoleName)
    if parts[1] not in roles and len(parts[1]) <= 20:
        return f"{form}; {parts[1]!r} is no role, those are {', '.join(roles)}"
    if not _DIGEST.fullmatch(parts[2]):
        return f"{form}; a digest has 64 of the letters 0-9 and a-f, and that one is another"
    return form
