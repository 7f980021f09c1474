"""Where an MCP server is: a command that is started here, or an address."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from harry_mcp.errors import InputError

# What people write of an address who leave its beginning out: a host with a port, or a host and a path.
_BARE = re.compile(r"(?:\[[0-9a-f:]+\]|[\w-]+(?:\.[\w-]+)*):\d{1,5}(?:/\S*)?|[\w-]+(?:\.[\w-]+)+/\S*", re.IGNORECASE)
_HERE = re.compile(r"(?:localhost|127\.|\[::1\])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ServerTarget:
    """Where the server is: ``url``, or the words of a ``command``, started with changes to this environment."""

    url: str = ""
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, text: str, default: Sequence[str]) -> ServerTarget:
        """What a person wrote; nothing gives ``default``, a command.

        Raises:
            InputError: it is neither an address nor a command.
        """
        text = text.strip()
        if text.lower().startswith(("http://", "https://")):
            if not _has_host(text):
                raise InputError(f"{text} names no host and port that can be. Write it like https://HOST/mcp.")
            return cls(url=text)
        if "://" in text and " " not in text:
            raise InputError(f"{text} is no address of an MCP server: those begin with http:// or https://.")
        if _BARE.fullmatch(text) and shutil.which(text) is None:
            scheme = "http" if _HERE.match(text) else "https"
            path = "" if "/" in text else "/mcp"
            raise InputError(
                f"{text} is no command. If it is an address, write the whole of it: {scheme}://{text}{path}"
            )
        try:
            words = tuple(shlex.split(text)) or tuple(default)
        except ValueError as error:
            raise InputError(f"The command of the server cannot be read: {error}. Check its quotes.") from error
        return cls(command=words)

    @property
    def name(self) -> str:
        """For people; without what an address may carry in its user part or query."""
        if not self.url:
            return shlex.join(self.command)
        return f"{self._root}{urlsplit(self.url).path}"

    @property
    def usual(self) -> str:
        """Where harry would serve on the host of an address; empty where that is the address already."""
        if not self.url or urlsplit(self.url).path.rstrip("/") == "/mcp":
            return ""
        return f"{self._root}/mcp"

    @property
    def _root(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _has_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none
        return False
