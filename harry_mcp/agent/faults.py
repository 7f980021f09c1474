"""What goes wrong on the line to an MCP server, in words for the person who wrote the address or the command."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import cast

from harry_mcp.agent.responding import Response
from harry_mcp.agent.target import ServerTarget
from harry_mcp.domain.plain import one_line

TOKEN = "HARRY_AGENT__TOKEN"  # noqa: S105 - the name of a setting
_NOT_MCP = "what answers there is no MCP server"


def faults() -> tuple[type[Exception], ...]:
    """What the SDK raises when a server is not there, goes, or talks nonsense."""
    import anyio
    import httpx2
    from mcp.shared.exceptions import MCPError

    return (
        MCPError,
        OSError,
        ValueError,  # a pydantic error among them
        RuntimeError,
        ExceptionGroup,
        httpx2.HTTPError,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        anyio.EndOfStream,
    )


def refusal(error: BaseException) -> bool:
    """Whether the server is there and said no, in the protocol's words."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

    return isinstance(error, MCPError) and error.code not in (CONNECTION_CLOSED, REQUEST_TIMEOUT)


def words(error: BaseException) -> str:
    """The first error of a group, in a line without a stop at its end."""
    if isinstance(error, BaseExceptionGroup):
        return words(cast(BaseExceptionGroup[BaseException], error).exceptions[0])
    return one_line(str(error), 200).rstrip(". ") or type(error).__name__


def why(error: BaseException, target: ServerTarget, response: Response, *, token: bool, opening: bool) -> str:
    """Why a server cannot be used and what to do, to stand behind a colon.

    ``token``: one was sent. ``opening``: it has not been spoken to before.
    """
    if not target.url:
        fault = _of_command(error)
    elif response.status >= 300:
        fault = _of_status(response, target, error, token=token)
    else:
        fault = _of_line(error, target, opening) or (_elsewhere(_NOT_MCP, target) if response.status else words(error))
    return fault if fault.endswith("?") else f"{fault}."


def never_sent(error: BaseException) -> bool:
    """Whether nobody was there to take the request."""
    import httpx2

    return any(isinstance(each, httpx2.ConnectError | httpx2.ConnectTimeout) for each in _causes(error))


def _of_command(error: BaseException) -> str:
    causes = list(_causes(error))
    if any(isinstance(each, FileNotFoundError) for each in causes):
        return "there is no such command. Install it, or give an address that begins with http:// or https://"
    if any(isinstance(each, PermissionError) for each in causes):
        return "the command may not be run. Check its permissions"
    if not any(refusal(each) for each in causes):
        return "the command ended, or closed its output. Run it by itself to see why"
    return f"the command is no MCP server ({words(error)})"


def _of_status(response: Response, target: ServerTarget, error: BaseException, *, token: bool) -> str:
    status = response.status
    said = f": {response.said}" if response.said else ""
    if status < 400:
        return f"it sends on to another address ({status}){said}. Give that one, if it is the server's"
    if status == 401:
        return f"it refuses the token of {TOKEN} (401){said}" if token else f"it wants a token (401). Set {TOKEN}"
    if status == 403:
        return (
            f"it lets the token of {TOKEN} do nothing there (403){said}" if token else f"it lets nobody in (403){said}"
        )
    if status in (404, 405, 406, 410, 415):
        return _elsewhere(f"there is none at that address ({status})", target)
    if status >= 500:
        return f"it answered with an error of its own ({status}){said}. It may be starting; ask again"
    return f"{words(error)} ({status}){said}"


def _of_line(error: BaseException, target: ServerTarget, opening: bool) -> str:
    """The faults of names, ports and lines; empty where it is none of them."""
    import httpx2

    causes = list(_causes(error))
    said = " ".join(str(each) for each in causes)
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes) or "CERTIFICATE_VERIFY" in said:
        return "its certificate is not trusted here"
    if any(isinstance(each, ssl.SSLError) for each in causes) or "[SSL" in said:
        return "what answers there does not speak https. Is it http://, perhaps?"
    if any(isinstance(each, socket.gaierror) for each in causes):
        return "the name of its host is not known. Check the address"
    if any(isinstance(each, httpx2.ConnectTimeout) for each in causes):
        return "nothing answers there. Check the address"
    if any(isinstance(each, httpx2.ConnectError) for each in causes):
        refused = any(isinstance(each, OSError) and each.errno == errno.ECONNREFUSED for each in causes)
        return f"nothing answers there{' (connection refused)' if refused else ''}. Is it running?"
    if any(isinstance(each, httpx2.RemoteProtocolError) for each in causes) and "disconnected" not in said:
        return _elsewhere(_NOT_MCP, target)
    if any(isinstance(each, httpx2.TransportError) for each in causes):
        return "it broke off the connection" + (". It may be no MCP server; check the address" if opening else "")
    return ""


def _elsewhere(fault: str, target: ServerTarget) -> str:
    return f"{fault}. " + (f"harry serves at {target.usual}" if target.usual else "Check the address")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, those of its group, and what each came from."""
    if error is None:
        return
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in cast(BaseExceptionGroup[BaseException], error).exceptions:
            yield from _causes(each)
    yield from _causes(error.__cause__ or error.__context__)
