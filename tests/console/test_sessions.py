"""Sessions and attempts by a clock of the test's own."""

from __future__ import annotations

import pytest

from harry_mcp.console.sessions import Attempts, Sessions
from harry_mcp.domain.people import Credential, Principal, Role
from harry_mcp.server.sealing import keys_for
from harry_mcp.server.tokens import KnownTokens, digest_of, new_token

pytestmark = pytest.mark.promise("MCP-8")

MARIA = Principal(subject="maría", via="http", role=Role.CURATOR, trusted=True)
KNOWN = Credential(principal=MARIA, fingerprint="0123456789abcdef")
KEYS = ("the first key of the tests, 32 or more", "the second key of the tests, 32 or more")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Marks:
    """What processes tell one another, in this one."""

    def __init__(self) -> None:
        self.set_for: dict[tuple[str, str], float] = {}

    async def set(self, kind: str, name: str, *, seconds: float) -> None:
        self.set_for[kind, name] = seconds

    async def is_set(self, kind: str, name: str) -> bool:
        return (kind, name) in self.set_for


def sessions(clock: Clock, marks: Marks, *keys: str) -> Sessions:
    return Sessions(60, keys_for("test", keys or KEYS[:1]), marks, clock)


async def test_a_session_lasts_its_time_and_no_longer() -> None:
    clock, marks = Clock(), Marks()
    here = sessions(clock, marks)
    name, seconds = here.begin(KNOWN)
    other, _ = here.begin(KNOWN)
    assert name != other
    assert seconds == 60
    session = await here.find(name)
    assert session is not None
    assert session.credential == KNOWN
    assert session.allows(session.csrf)
    assert not session.allows("")
    assert not session.allows("\ud800")
    changed = name[:-2] + ("A" if name[-2] != "A" else "B") + name[-1]
    for wrong in (name[:-1], changed, "", "\udcff", "x" * 5000, "v1.", other + "A"):
        assert await here.find(wrong) is None
    clock.now += 59.9
    assert await here.find(name) is not None
    await here.end(name)
    assert await here.find(name) is None
    assert await here.find(other) is not None
    clock.now += 0.1
    assert await here.find(other) is None


@pytest.mark.promise("OPS-6")
async def test_processes_with_the_same_keys_share_sessions() -> None:
    clock, marks = Clock(), Marks()
    here, there, elsewhere = (sessions(clock, marks), sessions(clock, marks), sessions(clock, marks, KEYS[1]))
    name, _ = here.begin(KNOWN)
    assert await there.find(name) == await here.find(name) is not None
    assert await elsewhere.find(name) is None
    # While keys change, those that seal with the old one and those that seal with the new one understand each other.
    assert await sessions(clock, marks, KEYS[1], KEYS[0]).find(name) is not None
    await there.end(name)
    assert await here.find(name) is None
    assert list(marks.set_for.values()) == [60]


async def test_a_session_ends_with_the_token_that_began_it() -> None:
    clock = Clock()
    here = sessions(clock, Marks())
    name, seconds = here.begin(Credential(principal=MARIA, ends=1010.5))
    assert seconds == 10.5
    assert await here.find(name) is not None
    clock.now += 10.5
    assert await here.find(name) is None


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
    known = KnownTokens({digest_of(token): MARIA})
    credential = known.holder(token)
    assert credential is not None
    assert credential.principal == known.named(credential.fingerprint) == MARIA
    for other in ("", token[:-1], token + "x", token.swapcase(), new_token(), digest_of(token), "\ud800", "é"):
        assert known.holder(other) is None
    assert token not in repr(vars(known))
    assert len(token) >= 43
