"""Text that is written in a code: found, decoded, and handed back to be read like any other."""

from __future__ import annotations

import base64
import binascii
import html
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

import regex

_BASE64 = regex.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,4000}={0,2}(?![\w+/=])")
_HEX = regex.compile(r"(?<![0-9A-Fa-f])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ ,:]?){12,2000}(?![0-9A-Fa-f])")
_BINARY = regex.compile(r"(?<![01])(?:[01]{8}[ ,]?){4,600}(?![01])")
_ESCAPED = regex.compile(r"(?:\\u[0-9A-Fa-f]{4}){6,500}")
_PERCENT = regex.compile(r"(?:%[0-9A-Fa-f]{2}){6,}|(?:[A-Za-z]{0,12}%20){4,}[A-Za-z]{1,12}")
_ENTITIES = regex.compile(r"(?:&#x?[0-9A-Fa-f]{1,6};){6,500}")
_MORSE = regex.compile(r"(?<![.\w-])(?:[.-]{1,6}(?:\s*/\s*|\s+)){7,400}[.-]{1,6}(?![\w])")
_MORSE_CODES = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
)
_MORSE_LETTERS: Mapping[str, str] = dict(zip(_MORSE_CODES.split(), "abcdefghijklmnopqrstuvwxyz0123456789", strict=True))
# Decoded bytes are a message when they print and hold words; digests, keys and images do not.
_WORDS = regex.compile(r"\p{L}{2,}(?:[\s,.:!?'\"-]+\p{L}{1,}){2,}")


class Payload(NamedTuple):
    """What stood in the text, in which code, and what it says."""

    code: str
    message: str
    # What being written so weighs by itself. Addresses and web pages are full of percent signs and entities.
    weight: float


def payloads(text: str) -> Iterator[Payload]:
    """The messages that are written in base64, hexadecimal, bits, Morse, escapes, percent signs or entities."""
    for code, pattern, decode, weight in _CODES:
        for match in pattern.finditer(text):
            message = decode(match.group())
            if message and _WORDS.search(message) and message != match.group():
                yield Payload(code, message, weight)


def _from_base64(text: str) -> str:
    if text.isdigit() or (text.isalpha() and text.islower()):
        return ""
    body = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _printed(base64.b64decode(body + "=" * (-len(body) % 4), validate=True))
    except (binascii.Error, ValueError):
        return ""


def _from_hex(text: str) -> str:
    digits = regex.sub(r"0x|\\x|[ ,:]", "", text)
    return _printed(bytes.fromhex(digits)) if len(digits) % 2 == 0 else ""


def _from_bits(text: str) -> str:
    bits = regex.sub(r"[ ,]", "", text)
    return _printed(int(bits, 2).to_bytes(len(bits) // 8, "big"))


def _from_morse(text: str) -> str:
    words = regex.split(r"\s*/\s*|\s{2,}", text.strip())
    return " ".join("".join(_MORSE_LETTERS.get(letter, "") for letter in word.split()) for word in words)


def _from_escapes(text: str) -> str:
    return "".join(chr(int(digits, 16)) for digits in regex.findall(r"\\u([0-9A-Fa-f]{4})", text))


def _printed(data: bytes) -> str:
    try:
        message = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return message if all(character.isprintable() or character in "\n\r\t" for character in message) else ""


_CODES = (
    ("base64", _BASE64, _from_base64, 0.5),
    ("bits", _BINARY, _from_bits, 0.5),
    ("hexadecimal", _HEX, _from_hex, 0.5),
    ("Morse", _MORSE, _from_morse, 0.5),
    ("escapes", _ESCAPED, _from_escapes, 0.3),
    ("percent signs", _PERCENT, unquote, 0.1),
    ("entities", _ENTITIES, html.unescape, 0.2),
)
