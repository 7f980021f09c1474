"""A port for a server that cannot choose one itself."""

from __future__ import annotations

import random
import socket

# Below those that a system gives to connections and to port 0: of these, another test that runs beside this one takes
# some between the look and the start.
_FIRST, _LAST = 20_000, 32_000


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses now."""
    while True:
        port = random.randint(_FIRST, _LAST)
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
