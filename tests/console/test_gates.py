"""MCP-8: whom the console and the protocol refuse. The server has no database, for nothing here gets that far."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.console.served import OWN, TOKEN, Browser, Served, served
from tests.console.test_http import NOWHERE

pytestmark = pytest.mark.promise("MCP-8")

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http"), HARRY_DATABASE_URL=NOWHERE, HARRY_HTTP__BODY_BYTES="10000") as opened:
        yield opened


@pytest.fixture
def browser(server: Served) -> Iterator[Browser]:
    with Browser(server.base) as opened:
        assert opened.sign_in().status_code == 303
        yield opened


@pytest.fixture
def stranger(server: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.base, timeout=60) as opened:
        yield opened


@pytest.mark.parametrize(
    ("authorization", "challenge"),
    [
        ("", 'Bearer realm="harry"'),
        ("Basic " + TOKEN, 'Bearer realm="harry"'),
        ("Bearer", 'Bearer realm="harry", error="invalid_token"'),
        (f"Bearer {TOKEN[:-1]}", 'Bearer realm="harry", error="invalid_token"'),
        (f"Bearer {TOKEN}x", 'Bearer realm="harry", error="invalid_token"'),
        (f"Bearer {TOKEN.upper()}", 'Bearer realm="harry", error="invalid_token"'),
    ],
)
def test_the_protocol_wants_the_token(stranger: httpx.Client, authorization: str, challenge: str) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    for method in ("POST", "GET", "DELETE"):
        refused = stranger.request(method, "/mcp", json=PING, headers=headers)
        assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, challenge)
        if method == "POST":
            unknown = "This server does not know the token."
            unsent = "Send the token of this server as a bearer token: Authorization: Bearer TOKEN."
            assert refused.json() == {"error": unknown if "invalid_token" in challenge else unsent}
    allowed = stranger.post("/mcp", json=PING, headers={"Authorization": f"bearer {TOKEN}", **ACCEPT})
    assert (allowed.status_code, allowed.json()["result"]) == (200, {})
    assert stranger.get("/mcp", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 405


def test_neither_token_nor_session_does_the_work_of_the_other(browser: Browser, stranger: httpx.Client) -> None:
    assert browser.http.post("/mcp", json=PING, headers=ACCEPT).status_code == 401
    answer = stranger.post(
        "/admin/call", json={"tool": "list_gaps"}, headers={"Authorization": f"Bearer {TOKEN}", "X-Harry-CSRF": "x"}
    )
    assert (answer.status_code, answer.json()["login"]) == (401, True)


@pytest.mark.parametrize("path", ["/mcp", "/admin", "/healthz", "/readyz", "/nothing"])
def test_other_names_and_origins_reach_nothing(server: Served, stranger: httpx.Client, path: str) -> None:
    port = server.base.rpartition(":")[2]
    for host in ("evil.example", f"127.0.0.1.evil.example:{port}", "127.0.0.1:80:80", "", f"user@127.0.0.1:{port}"):
        assert stranger.get(path, headers={"Host": host}).status_code == 421 if host else 400, host
    for origin in ("http://evil.example", f"http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:1", "null", "x"):
        assert stranger.get(path, headers={"Origin": origin}).status_code == 403, origin
    for host in (f"LOCALHOST:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost"):
        assert stranger.get(path, headers={"Host": host}).status_code not in (403, 421), host


def test_it_says_whether_it_is_up_without_saying_more(server: Served, stranger: httpx.Client) -> None:
    assert stranger.get("/healthz").json() == {"alive": True}
    ready = stranger.get("/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (503, False)
    assert "127.0.0.1" not in ready.text
    assert "server" not in ready.headers


def test_pages_are_fenced_in(browser: Browser, stranger: httpx.Client) -> None:
    for shown in (stranger.get("/admin"), browser.http.get("/admin")):
        policy = dict(part.strip().split(" ", 1) for part in shown.headers["Content-Security-Policy"].split(";"))
        nonces = set(re.findall(r'<(?:script|style)[^>]* nonce="([^"]+)"', shown.text))
        assert len(nonces) == 1
        nonce = f"'nonce-{nonces.pop()}'"
        assert policy == {
            "default-src": "'none'",
            "script-src": nonce,
            "style-src": nonce,
            "connect-src": "'self'",
            "img-src": "'self' data:",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
            "form-action": "'self'",
        }
        # Every one carries the nonce, and nothing else could run.
        assert len(re.findall(r"<(?:script|style)\b", shown.text)) == shown.text.count(nonce[7:-1])
        assert not re.search(r"<[a-z][^>]*\son[a-z]+\s*=", shown.text.partition("<script")[0])
    first, second = browser.http.get("/admin"), browser.http.get("/admin")
    assert first.headers["Content-Security-Policy"] != second.headers["Content-Security-Policy"]
    answers = [
        first,
        stranger.get("/admin"),
        browser.call("nothing"),
        stranger.post("/admin/call"),
        browser.sign_in("x"),
    ]
    for answer in answers:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_signing_in_makes_a_session_that_no_script_sees(server: Served, stranger: httpx.Client) -> None:
    planted = "planted-by-somebody-else"
    stranger.cookies.set("harry_session", planted, domain="127.0.0.1", path="/admin")
    signed = stranger.post("/admin/login", data={"token": TOKEN}, headers=OWN)
    (cookie,) = signed.headers.get_list("set-cookie")
    name, *attributes = cookie.split("; ")
    assert {each.lower() for each in attributes} == {"httponly", "max-age=43200", "path=/admin", "samesite=strict"}
    session = name.removeprefix("harry_session=")
    assert session.startswith("v1.")
    assert "admin" not in session
    assert session != planted
    with httpx.Client(base_url=server.base, cookies={"harry_session": planted}) as attacker:
        assert "harry-csrf" not in attacker.get("/admin").text
    # A second sign-in ends the session that the browser had.
    again = stranger.post("/admin/login", data={"token": TOKEN}, headers={**OWN, "Cookie": f"harry_session={session}"})
    assert again.status_code == 303
    with httpx.Client(base_url=server.base, cookies={"harry_session": session}) as old:
        assert "harry-csrf" not in old.get("/admin").text


def test_behind_a_proxy_with_tls_the_cookie_is_for_tls_alone(stranger: httpx.Client) -> None:
    headers = {**OWN, "X-Forwarded-Proto": "https"}
    signed = stranger.post("/admin/login", data={"token": TOKEN}, headers=headers)
    assert "Secure" in signed.headers["set-cookie"]


def test_signing_out_ends_the_session_on_the_server(server: Served, browser: Browser) -> None:
    session = browser.http.cookies["harry_session"]
    assert browser.http.post("/admin/logout").status_code == 403
    assert browser.http.post("/admin/logout", headers={"X-Harry-CSRF": browser.csrf[:-1] + "?"}).status_code == 403
    assert browser.call("nothing").status_code == 200
    out = browser.http.post("/admin/logout", headers={"X-Harry-CSRF": browser.csrf})
    assert (out.status_code, out.headers["location"]) == (303, "/admin")
    assert "harry_session" not in browser.http.cookies
    kept = {"Cookie": f"harry_session={session}"}
    ended = browser.call("nothing", headers=kept)
    assert (ended.status_code, ended.json()["login"]) == (401, True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Harry-CSRF": ""}, 403),
        ({"X-Harry-CSRF": "x" * 43}, 403),
        ({"X-Harry-CSRF": "\u00e9" * 43}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Origin": "null"}, 200),
    ],
)
def test_only_the_page_itself_calls(browser: Browser, headers: dict[str, str], status: int) -> None:
    raw = {name: value.encode("latin-1") for name, value in ({"X-Harry-CSRF": browser.csrf} | headers).items()}
    body = b'{"tool": "nothing", "arguments": {}}'
    given = {"Content-Type": b"application/json"} | raw
    sent = [(name.encode(), value) for name, value in given.items()]
    answer = browser.http.post("/admin/call", content=body, headers=sent)
    assert answer.status_code == status
    if answer.headers["content-type"] == "application/json":
        assert answer.json()["ok"] is False


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"{}", b'{"tool": 7}', b'{"tool": "list_gaps", "arguments": []}', b"[" * 9000]
)
def test_what_is_no_call_is_named_so(browser: Browser, body: bytes) -> None:
    headers = {"X-Harry-CSRF": browser.csrf, "Content-Type": "application/json"}
    answer = browser.http.post("/admin/call", content=body, headers=headers)
    assert (answer.status_code, answer.json()["ok"]) == (400, False)
    assert "tool" in answer.json()["error"]


def test_too_much_is_refused_however_it_is_sent(browser: Browser, stranger: httpx.Client) -> None:
    headers = {"X-Harry-CSRF": browser.csrf, "Content-Type": "application/json"}
    whole = b'{"tool": "list_gaps", "arguments": {"x": "' + b"a" * 20_000 + b'"}}'
    for content in (whole, iter([whole[:9000], whole[9000:]])):
        answer = browser.http.post("/admin/call", content=content, headers=headers)
        assert answer.status_code == 413
        assert "at most 10,000 bytes" in answer.json()["error"]
    assert stranger.post("/admin/login", data={"token": "x" * 9000}, headers=OWN).status_code == 413
    sent = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **ACCEPT}
    assert stranger.post("/mcp", content=whole, headers=sent).status_code == 413


@pytest.mark.parametrize(
    "tool", ["search_kb", "ingest_source", "submit_correction", "web_fallback", "__init__", "", "é"]
)
def test_the_console_is_no_way_to_other_tools(browser: Browser, tool: str) -> None:
    answer = browser.call(tool)
    assert (answer.status_code, answer.json()["ok"]) == (200, False)
    assert "The console has no tool" in answer.json()["error"]


def test_a_database_that_is_away_is_said_in_one_sentence(browser: Browser) -> None:
    answer = browser.call("list_gaps").json()
    assert answer["ok"] is False
    assert "cannot be reached" in answer["error"]
    assert "Traceback" not in answer["error"]


def test_signing_in_is_refused_to_other_pages(stranger: httpx.Client) -> None:
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
    ):
        answer = stranger.post("/admin/login", data={"token": TOKEN}, headers=headers)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


def test_only_the_methods_that_are_meant(stranger: httpx.Client) -> None:
    assert stranger.get("/admin/call").status_code == 405
    assert stranger.get("/admin/logout").status_code == 405
    assert stranger.post("/admin").status_code == 405
    assert stranger.options("/admin/call", headers={"Access-Control-Request-Method": "POST"}).status_code == 405


def test_guessing_is_slowed_down(tmp_path: Path) -> None:
    with served(tmp_path, HARRY_DATABASE_URL=NOWHERE) as server, Browser(server.base) as browser:
        codes = [browser.sign_in(f"a wrong token, number {number}").status_code for number in range(8)]
        assert codes[:5] == [401] * 5
        assert 429 in codes[5:]
        waiting = browser.sign_in()
        assert waiting.status_code == 429
        assert int(waiting.headers["Retry-After"]) >= 1


def test_guesses_that_come_together_are_counted_one_by_one(tmp_path: Path) -> None:
    with served(tmp_path, HARRY_DATABASE_URL=NOWHERE) as server:
        port = int(server.base.rpartition(":")[2])
        fields = ("POST /admin/login HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", "Content-Length: 7")
        connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for connection in connections:
            connection.sendall("\r\n".join([*fields, "", ""]).encode())
        for connection in connections:
            connection.sendall(b"token=x")
        codes = [connection.makefile("rb").readline().split()[1] for connection in connections]
        for connection in connections:
            connection.close()
        assert sorted(codes) == [b"401"] * 5 + [b"429"] * 15


def test_a_session_ends_by_itself(tmp_path: Path) -> None:
    with (
        served(tmp_path, HARRY_DATABASE_URL=NOWHERE, HARRY_HTTP__SESSION_HOURS=str(4 / 3600)) as server,
        Browser(server.base) as browser,
    ):
        browser.sign_in()
        session = {"Cookie": f"harry_session={browser.http.cookies['harry_session']}"}
        answers = [browser.call("nothing", headers=session)]
        assert answers[0].status_code == 200
        while answers[-1].status_code == 200:
            answers.append(browser.call("nothing", headers=session))
        assert (answers[-1].status_code, answers[-1].json()["login"]) == (401, True)
