"""What goes to a service and what comes back, read with care: keys, texts, statuses, Retry-After, words of errors."""

from __future__ import annotations

import email.utils
import logging
import re
import time
from collections.abc import Callable, Mapping

from harry_mcp.errors import ProviderNotConfigured

_PASSING = (408, 409, 425, 429)
# Characters of a key that tell nothing yet; services show about as many where they mask one.
_BEGINNING = 10
# What looks like a key of a vendor, should a service answer with another one than ours.
_KEYLIKE = re.compile(r"\b(?:sk-ant|sk|pa|al|tvly)-[\w-]{8,}")


def sendable_key(key: str, variable: str) -> str:
    """The key without white space around it.

    Raises:
        ProviderNotConfigured: HTTP cannot carry it; its clients then say so with the key in the message.
    """
    stripped = key.strip()
    if not (stripped.isascii() and stripped.isprintable()):
        raise ProviderNotConfigured(f"{variable} holds characters that no key has. Check the key.")
    return stripped


def silence(*loggers: str) -> None:
    """Keep an SDK and its HTTP client from logging more than warnings.

    At lower levels they log the texts that are sent and the headers that come back.
    """
    for name in loggers:
        logging.getLogger(name).setLevel(logging.WARNING)


def redacted(text: str, key: str) -> str:
    """The text without the key, also where it was cut off or masked, and without what looks like one."""
    if key:
        text = text.replace(key, "[key]")
    if len(key) > _BEGINNING:
        text = re.sub(re.escape(key[:_BEGINNING]) + r"\S*", "[key]", text)
    return _KEYLIKE.sub("[key]", text)


def short(what: object) -> str:
    """What somebody says, on one line of at most 200 characters, without the stop at its end."""
    return " ".join(str(what).split())[:200].rstrip(". ") or type(what).__name__


def sendable(text: str) -> str:
    """The text without halves of surrogate pairs, which UTF-8 has no bytes for."""
    return text.encode("utf-8", "replace").decode()


def may_pass(status: int) -> bool:
    """Whether a request that got this status may go better later."""
    return status in _PASSING or status >= 500


def seconds_to_wait(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """What ``Retry-After`` asks for: seconds or a date (RFC 9110, 10.2.3); None where there is none to understand."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        date = email.utils.parsedate_tz(value)
        if date is None:
            return None
        try:
            seconds = email.utils.mktime_tz(date) - now()
        except (ValueError, OverflowError):  # a day that no calendar has
            return None
    return max(0.0, seconds) if seconds < float("inf") else None  # no number is under infinity, nor is "nan"
