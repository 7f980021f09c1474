"""Sessions and attempts by a clock of the test's own."""

from __future__ import annotations

import pytest

from harry_mcp.console.sessions import Attempts, Sessions
from harry_mcp.domain.people import Principal, Role
from harry_mcp.server.tokens import StaticToken, new_token

pytestmark = pytest.mark.promise("MCP-8")

MARIA = Principal(subject="maria", via="http", role=Role.CURATOR, trusted=True)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_session_lasts_its_time_and_no_longer() -> None:
    clock = Clock()
    sessions = Sessions(60, clock)
    name = sessions.begin(MARIA)
    other = sessions.begin(MARIA)
    assert name != other
    session = sessions.find(name)
    assert session is not None
    assert session.principal == MARIA
    assert session.allows(session.csrf)
    assert not session.allows("")
    assert not session.allows("\ud800")
    assert sessions.find(name[:-1]) is sessions.find("") is sessions.find("\udcff") is None
    clock.now += 59.9
    assert sessions.find(name) is not None
    sessions.end(name)
    assert sessions.find(name) is None
    assert sessions.find(other) is not None
    clock.now += 0.1
    assert sessions.find(other) is None


def test_the_oldest_session_makes_room() -> None:
    sessions = Sessions(60, Clock())
    names = [sessions.begin(MARIA) for _ in range(300)]
    assert [sessions.find(name) is not None for name in names] == [False] * 44 + [True] * 256


def test_each_wrong_token_doubles_the_wait() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    waits: list[float] = []
    for _ in range(14):
        attempts.failed()
        waits.append(attempts.wait())
    assert waits == [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    clock.now += 59
    assert attempts.wait() == 1
    clock.now += 1
    assert attempts.wait() == 0
    attempts.failed()
    assert attempts.wait() == 60
    clock.now += 901
    assert attempts.wait() == 0
    attempts.failed()
    assert attempts.wait() == 0
    for _ in range(6):
        attempts.failed()
    attempts.succeeded()
    assert attempts.wait() == 0


def test_only_the_token_itself_is_the_token() -> None:
    token = new_token()
    static = StaticToken(token, MARIA)
    assert static.holder(token) == MARIA
    for other in ("", token[:-1], token + "x", token.swapcase(), new_token(), "\ud800", "é"):
        assert static.holder(other) is None
    assert token not in repr(vars(static))
    assert len(token) >= 43
