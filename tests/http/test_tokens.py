"""MCP-4, MCP-6: tokens of an issuer, right and wrong ones, and what those who are refused are told."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.console.served import TOKEN, Browser, Served, served
from tests.console.test_gates import ACCEPT, PING
from tests.console.test_http import NOWHERE
from tests.http.issuer import AUDIENCE, ISSUER, Issuer, Key, claims, published, unsigned

pytestmark = [pytest.mark.promise("MCP-4"), pytest.mark.promise("MCP-6")]

ES, RS, ED = Key("es"), Key("rs", "RS256"), Key("ed", "EdDSA")
WEAK = Key("weak", "RS256", bits=1024)
STRANGER = Key("es")
NEVER_PUBLISHED = Key("unpublished")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
METADATA = "https://kb.example.com/.well-known/oauth-protected-resource/mcp"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with published(Issuer(ES, RS, ED, WEAK)) as opened:
        yield opened


def environment(issuer: Issuer) -> dict[str, str]:
    return {
        "HARRY_DATABASE_URL": NOWHERE,
        "HARRY_HTTP__PUBLIC_URL": AUDIENCE,
        "HARRY_AUTH__ISSUER": ISSUER,
        "HARRY_AUTH__JWKS_URL": issuer.url,
        "HARRY_AUTH__PAUSE_SECONDS": "1",
        "HARRY_AUTH__LEEWAY": "2",
    }


@pytest.fixture(scope="module")
def server(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("tokens"), **environment(issuer)) as opened:
        yield opened


def post(server: Served, token: str, body: dict[str, Any] = PING) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}", **ACCEPT}
    return httpx.post(f"{server.base}/mcp", json=body, headers=headers, timeout=30)


def tools(server: Served, token: str) -> set[str]:
    answer = post(server, token, LIST)
    assert answer.status_code == 200, answer.text
    return {tool["name"] for tool in answer.json()["result"]["tools"]}


@pytest.mark.parametrize("key", [ES, RS, ED], ids=lambda key: key.algorithm)
def test_each_signature_that_is_taken_lets_in(server: Served, key: Key) -> None:
    assert post(server, key.sign(claims())).json()["result"] == {}


@pytest.mark.parametrize(
    ("scopes", "has", "lacks"),
    [
        ({"scope": "harry:read"}, "search_kb", "submit_feedback"),
        ({"scope": "harry:contribute"}, "submit_feedback", "review_documents"),
        ({"scope": "harry:read harry:curate"}, "review_documents", ""),
        ({"scope": "harry:admin"}, "review_documents", ""),
        ({"scope": None, "scp": ["harry:curate"]}, "review_documents", ""),
        ({"scope": None, "scp": "harry:read other"}, "search_kb", "submit_feedback"),
    ],
)
def test_the_widest_scope_is_the_role(server: Served, scopes: dict[str, Any], has: str, lacks: str) -> None:
    found = tools(server, ES.sign(claims(**scopes)))
    assert has in found
    assert lacks not in found


NOW = int(time.time())


@pytest.mark.parametrize(
    ("token", "says"),
    [
        (ES.sign(claims(exp=NOW - 60)), "has expired"),
        (ES.sign(claims(exp=None)), "lacks one of exp"),
        (ES.sign(claims(nbf=NOW + 86_400)), "not valid yet"),
        (ES.sign(claims(iat=NOW + 86_400)), "not valid yet"),
        (ES.sign(claims(aud="https://other.example.com/mcp")), "for another server"),
        (ES.sign(claims(aud=AUDIENCE + "/more")), "for another server"),
        (ES.sign(claims(aud=None)), "lacks one of"),
        (ES.sign(claims(iss="https://login.example.com.evil.example")), "another issuer"),
        (ES.sign(claims(iss=ISSUER + "/")), "another issuer"),
        (ES.sign(claims(sub=None)), "lacks one of"),
        (ES.sign(claims(sub="")), "sub cannot be used"),
        (ES.sign(claims(sub="a\nb")), "sub cannot be used"),
        (ES.sign(claims(sub="x" * 201)), "sub cannot be used"),
        (ES.sign(claims(sub="  ")), "sub cannot be used"),
        (ES.sign(claims(exp="soon")), "does not know the token"),
        (ES.sign(claims(exp=[])), "does not know the token"),
        (STRANGER.sign(claims()), "signature is wrong"),
        (ES.sign(claims())[:-4] + "AAAA", "signature is wrong"),
        (NEVER_PUBLISHED.sign(claims()), "key that its issuer does not have"),
        (NEVER_PUBLISHED.sign(claims(), jwk=NEVER_PUBLISHED.public), "key that its issuer does not have"),
        (WEAK.sign(claims()), "key that its issuer does not have"),
        (unsigned(claims(), "es"), "is not signed by"),
        (RS.sign_as_a_secret(claims()), "is not signed by"),
        (ES.sign(claims(), kid="rs"), "key that its issuer does not have"),
        (ES.sign(claims()).replace(".", "", 1), "does not know the token"),
        ("a.b.c", "does not know the token"),
        ("a" * 20_000 + ".b.c", "does not know the token"),
    ],
)
def test_a_wrong_token_is_refused_and_told_why(server: Served, token: str, says: str) -> None:
    refused = post(server, token, LIST)
    assert refused.status_code == 401
    assert says in refused.json()["error"]
    challenge = refused.headers["WWW-Authenticate"]
    assert challenge.startswith('Bearer realm="harry", error="invalid_token", error_description="')
    assert challenge.endswith(f'resource_metadata="{METADATA}", scope="harry:read"')
    assert token not in refused.text + challenge


@pytest.mark.parametrize("scope", [None, "", "openid email", "harry", "harry:read2", ["harry:read", 7], 7])
def test_a_right_token_without_a_scope_of_ours_is_told_which_it_needs(server: Served, scope: Any) -> None:
    answer = post(server, ES.sign(claims(scope=scope)))
    if isinstance(scope, list):
        assert answer.status_code == 200
        return
    assert answer.status_code == 403
    challenge = answer.headers["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="harry:read"' in challenge


def test_clients_read_where_to_get_a_token(server: Served) -> None:
    refused = httpx.post(f"{server.base}/mcp", json=PING)
    assert refused.headers["WWW-Authenticate"] == (
        f'Bearer realm="harry", resource_metadata="{METADATA}", scope="harry:read"'
    )
    for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
        document = httpx.get(server.base + path, headers={"Host": "kb.example.com"}).json()
        assert document["resource"] == AUDIENCE
        assert document["authorization_servers"] == [ISSUER]
        assert document["scopes_supported"] == ["harry:read", "harry:contribute", "harry:curate", "harry:admin"]
        assert document["bearer_methods_supported"] == ["header"]


def test_the_one_token_goes_on_beside_the_issuer(server: Served) -> None:
    assert "review_documents" in tools(server, TOKEN)


def test_a_token_of_the_issuer_opens_the_console_and_names_its_subject(server: Served) -> None:
    with Browser(server.base) as browser:
        assert browser.sign_in(ES.sign(claims(scope="harry:curate"))).status_code == 303
        assert browser.call("nothing").status_code == 200
        assert browser.sign_in(ES.sign(claims(aud="https://other.example.com"))).status_code == 401
        assert browser.sign_in(ES.sign(claims(scope="other"))).status_code == 403
        less = browser.sign_in(ES.sign(claims(scope="harry:read")))
        assert less.status_code == 403
        assert "may read; the console needs the role curator. Ask your identity provider" in less.text
        assert "or one of your identity provider with the scope harry:curate or harry:admin" in less.text
        # As the page's script asks, in the middle of a session.
        old = ES.sign(claims(scope="harry:curate", exp=int(time.time()) - 600))
        again = browser.http.post("/admin/login", data={"token": old}, headers={"Accept": "application/json"})
        assert (again.status_code, again.json()["error"]) == (401, "The token has expired. Sign in with another token.")
    with Browser(server.base) as browser:
        signed = browser.sign_in(ES.sign(claims(scope="harry:curate", exp=int(time.time()) + 30)))
        (cookie,) = signed.headers.get_list("set-cookie")
        seconds = int(cookie.partition("Max-Age=")[2].partition(";")[0])
        assert 25 <= seconds <= 32


def test_a_new_key_is_fetched_and_known_ones_outlive_an_outage(tmp_path: Path) -> None:
    old, new, newest = Key("old"), Key("new"), Key("newest")
    with published(Issuer(old)) as issuer, served(tmp_path, **environment(issuer)) as server:
        assert post(server, old.sign(claims())).status_code == 200
        assert issuer.fetched == 1
        issuer.keys = [old, new]
        # Soon after a fetch no other is made, however many ask for keys that are not known.
        codes = {post(server, NEVER_PUBLISHED.sign(claims())).status_code for _ in range(5)}
        assert codes == {401}
        assert issuer.fetched <= 2
        eventually(lambda: post(server, new.sign(claims())).status_code == 200)
        fetched = issuer.fetched
        issuer.down = True
        issuer.keys = [newest]
        eventually(lambda: post(server, newest.sign(claims())).status_code == 503)
        answer = post(server, newest.sign(claims()))
        assert answer.status_code == 503
        assert "cannot be fetched right now" in answer.json()["error"]
        assert int(answer.headers["Retry-After"]) >= 1
        assert post(server, old.sign(claims())).status_code == 200
        assert issuer.fetched > fetched
        issuer.down = False
        eventually(lambda: post(server, newest.sign(claims())).status_code == 200)
        # What the issuer took back is worth nothing from then on.
        assert post(server, old.sign(claims())).status_code == 401


def test_an_issuer_that_never_answered_is_no_wrong_token(tmp_path: Path) -> None:
    with published(Issuer(ES)) as issuer:
        issuer.down = True
        with served(tmp_path, **environment(issuer)) as server:
            assert post(server, ES.sign(claims())).status_code == 503
            assert post(server, TOKEN).status_code == 200
            with Browser(server.base) as browser:
                assert browser.sign_in(ES.sign(claims(scope="harry:curate"))).status_code == 503
            issuer.down = False
            eventually(lambda: post(server, ES.sign(claims())).status_code == 200)


PACKED = gzip.compress(b'{"keys": [' + b" " * 100_000_000 + b"]}")


@pytest.mark.parametrize(
    ("says", "headers"),
    [
        (b"<html>Sign in</html>", {"Content-Type": "text/html"}),
        (b"", {"Location": "/elsewhere"}),
        (b"[" * 200_000, {}),
        (b'{"keys": [' + b" " * 300_000 + b"]}", {}),
        (PACKED, {"Content-Encoding": "gzip"}),
        (b"\xff\xfe", {}),
        (b'{"keys": NaN}', {}),
        (b"7", {}),
    ],
    ids=["a page", "a redirect", "nested", "large", "packed", "no text", "no list", "a number"],
)
def test_what_is_no_list_of_keys_is_an_outage(tmp_path: Path, says: bytes, headers: Any) -> None:
    with published(Issuer(ES)) as issuer, served(tmp_path, **environment(issuer)) as opened:
        issuer.says, issuer.headers = says, headers
        before = psutil.Process(opened.process.pid).memory_info().rss
        answer = post(opened, ES.sign(claims()))
        assert (answer.status_code, "cannot be fetched right now" in answer.json()["error"]) == (503, True)
        assert psutil.Process(opened.process.pid).memory_info().rss - before < 80_000_000
        issuer.says, issuer.headers = None, {}
        eventually(lambda: post(opened, ES.sign(claims())).status_code == 200)
        assert "Traceback" not in opened.said()


def test_a_moment_that_no_clock_reaches_is_one(server: Served) -> None:
    assert post(server, ES.sign(claims(exp=10**400))).status_code == 200


def test_of_two_tokens_none_counts(server: Served) -> None:
    for tokens in ((TOKEN, "wrong"), ("wrong", TOKEN), (TOKEN, TOKEN)):
        headers = [("Authorization", f"Bearer {token}") for token in tokens]
        refused = httpx.post(f"{server.base}/mcp", json=PING, headers=[*headers, *ACCEPT.items()])
        assert refused.status_code == 400
        assert refused.json() == {"error": "Send one Authorization header."}
        assert refused.headers["WWW-Authenticate"] == 'Bearer realm="harry", error="invalid_request"'


def test_a_token_in_the_address_is_none(server: Served) -> None:
    assert httpx.post(f"{server.base}/mcp?access_token={TOKEN}", json=PING, headers=ACCEPT).status_code == 401


def eventually(holds: Any) -> None:
    """Ask until it is so; each question is a request, so nothing here spins."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
