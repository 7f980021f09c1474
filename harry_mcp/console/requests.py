"""What is asked of every request that changes something: that our own page sent it, and that it is not too large."""

from __future__ import annotations

from starlette.requests import Request


class BodyTooLarge(Exception):
    """More came than is taken."""


async def body_of(request: Request, most: int) -> bytes:
    """The body.

    Raises:
        BodyTooLarge: it has more bytes than ``most``; the rest was not read.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise BodyTooLarge
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise BodyTooLarge
    return bytes(body)


def is_from_our_page(request: Request) -> bool:
    """Whether a browser says that a page of this origin sent it; what is no browser says nothing, and may.

    The gate before every route compared Origin with Host already.
    """
    return request.headers.get("sec-fetch-site", "same-origin") == "same-origin"


def media_type(request: Request) -> str:
    """What the body is said to be, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def wants_json(request: Request) -> bool:
    """Whether a script of the page asks, which shows what is wrong by itself."""
    return request.headers.get("accept", "").partition(",")[0].strip() == "application/json"
