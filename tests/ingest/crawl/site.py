"""A web site on the loopback address, with every trap that a crawler meets, and a log of what it was asked."""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase

_WORDS = (
    "account key billing invoice webhook contact form ticket report owner team seat role token export import "
    "workflow email domain record property list segment campaign landing page template theme module pipeline deal"
)
WORDS = _WORDS.split()


@dataclass(slots=True)
class Reply:
    """What the site answers under one path."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    slow: float = 0.0
    etag: bool = False
    modified: str = ""
    raw: Callable[[BufferedIOBase], None] | None = None
    """Writes all that is sent, status line and headers too, in the place of the rest; it counts as status 0."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, and the status that it got."""

    path: str
    status: int
    at: float
    agent: str
    host: str
    cookie: str


class Site:
    """The pages, which a test may change between two crawls."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply | Callable[[], Reply]] = {}
        self.log: list[Asked] = []
        self.url = ""
        self.closed = False
        self.before: Callable[[str], None] | None = None

    def page(self, path: str, text: str, *links: str, title: str = "", head: str = "", **reply: object) -> None:
        """A page of HTML that links to others; each sends an ETag unless it is told not to."""
        anchors = "".join(f'<li><a href="{link}">a link</a></li>' for link in links)
        name = title or f"Page {path}"
        body = (
            f"<!doctype html><html lang=en><head><title>{name}</title>{head}</head><body><nav><ul>{anchors}</ul></nav>"
            f"<main><h1>{name}</h1>{text}</main></body></html>"
        )
        self.put(path, body, **{"etag": True, **reply})

    def put(self, path: str, body: str | bytes = b"", **reply: object) -> None:
        answer = Reply(body.encode() if isinstance(body, str) else body)
        answer.headers["Content-Type"] = "text/html; charset=utf-8"
        for name, value in reply.items():
            if name == "headers":
                answer.headers |= value  # pyright: ignore
            else:
                setattr(answer, name, value)
        self.replies[path] = answer

    def moved(self, path: str, to: str, status: int = 302) -> None:
        self.put(path, status=status, headers={"Location": to})

    def answer(self, path: str) -> Reply:
        found = self.replies.get(path, Reply(b"<h1>nothing</h1>", 404))
        return found if isinstance(found, Reply) else found()

    def taken(self) -> Counter[tuple[str, int]]:
        """Path and status of every request since the last look, counted."""
        log, self.log = self.log, []
        return Counter((asked.path, asked.status) for asked in log)

    def full(self, *paths: str) -> list[str]:
        return [self.url + path for path in paths]


def prose(seed: str, words: int = 60) -> str:
    """A paragraph that is the same for the same seed and like no other."""
    digest = hashlib.sha256(seed.encode()).digest() * (words // 32 + 1)
    chosen = [f"{WORDS[byte % len(WORDS)]}{byte if i % 9 == 0 else ''}" for i, byte in enumerate(digest[:words])]
    return f"<p>About {seed}: {' '.join(chosen)}.</p>"


@contextmanager
def serving(site: Site) -> Generator[Site]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_GET(self) -> None:
            if site.before is not None:
                site.before(self.path)
            reply = site.answer(self.path)
            tag = f'"{hashlib.sha256(reply.body).hexdigest()[:16]}"'
            status, body = 0 if reply.raw else reply.status, reply.body
            same_tag = reply.etag and self.headers.get("If-None-Match") == tag
            if same_tag or (reply.modified and self.headers.get("If-Modified-Since") == reply.modified):
                status, body = 304, b""
            agent, host, cookie = (self.headers.get(name, "") for name in ("User-Agent", "Host", "Cookie"))
            site.log.append(Asked(self.path, status, time.monotonic(), agent, host, cookie))
            if reply.slow:
                time.sleep(reply.slow)
            try:
                if reply.raw is not None:
                    self.close_connection = True
                    reply.raw(self.wfile)
                    return
                self.send_response(status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.etag:
                    self.send_header("ETag", tag)
                if reply.modified:
                    self.send_header("Last-Modified", reply.modified)
                if "Content-Length" not in reply.headers and status not in (204, 304):
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:  # the crawler hung up, as it does on what is slow or huge
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: object, client_address: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sitemap(*urls: str, index: bool = False, lastmod: str = "") -> bytes:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    entries = "".join(f"<{inner}><loc>{url}</loc>{date}</{inner}>" for url in urls)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"{entries}</{outer}>"
    ).encode()


def packed(data: bytes) -> bytes:
    return gzip.compress(data)
