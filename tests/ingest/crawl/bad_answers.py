"""Answers that are no pages, or pages that are hard to read: the traps that lie in what a server sends."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BufferedIOBase

from tests.ingest.crawl.fates import FatedSite
from tests.ingest.crawl.site import Reply, prose
from tests.ingest.formats.pdfs import lines, pdf

LARGEST = 200_000  # bytes of a page
TIMEOUT = 2.5  # seconds: a busy machine must not make a good page slow
RETRIES = 2


def build(fated: FatedSite) -> None:
    for family in (_shams, _closed, _out_of_order, _bad_http, _packed, _encodings, _kinds):
        family(fated)


def _shams(fated: FatedSite) -> None:
    """Pages of status 200 that are an error, a login or nothing, and pages that only look like it."""
    hub = fated.hub("/sham/")
    for number, title in enumerate(
        ("Page not found", "404", "Error 404 | The site", "Seite nicht gefunden", "Oops! That page can’t be found.")
    ):
        fated.page(hub, f"/sham/missing-{number}", "<p>Sorry.", title=title)
        fated.fate(f"/sham/missing-{number}", "refused", "soft_404")
    for number, title in enumerate(
        ("Just a moment...", "Something went wrong", "Access denied", "503 Service Unavailable")
    ):
        fated.page(hub, f"/sham/trouble-{number}", "<p>Try again.", title=title)
        fated.fate(f"/sham/trouble-{number}", "refused", "error_page")
    form = "<form><input name=user><input type=Password></form>"
    for number, title in enumerate(("Log in", "Sign in to go on", "Anmelden", "Members")):
        fated.page(hub, f"/sham/login-{number}", form + "<p>Please give your data.", title=title)
        fated.fate(f"/sham/login-{number}", "refused", "login")
    fated.moved(hub, "/sham/account", "/sham/login-0")
    shell = "<title>App</title><div id=root></div><script>boot()</script>"
    asks = "<noscript>You need to enable JavaScript to run this app.</noscript>"
    fated.put(hub, "/sham/asks-for-scripts", shell + asks, "refused", "error_page", etag=True)
    blanks = ("", " \n\t ", "<html><body></body></html>", shell, "<p>&nbsp;&#8203;<br>")
    for number, body in enumerate(blanks):
        fated.put(hub, f"/sham/empty-{number}", body, "refused", "empty", etag=True)
    fated.page(hub, "/sham/about-404", prose("status 404", 200), title="404 Not Found: what it means")
    fated.page(hub, "/sham/printer", "<p>Plug it in, wait a minute, and look again.", title="Printer not found")
    away = '<noscript><meta http-equiv=refresh content="0;url=/sham/for-nobody"></noscript>'
    fated.page(hub, "/sham/for-browsers", head=away)
    fated.page(hub, "/sham/member", prose("a page beside a form", 150) + form)


def _closed(fated: FatedSite) -> None:
    """A section that is closed in the middle of an open site, and single pages that are."""
    hub = fated.hub("/closed/")
    for number in range(14):
        fated.put(hub, f"/closed/{number}", "no", "failed", "forbidden", status=403)
    fated.page(hub, "/closed/open")
    for status in (401, 403, 451):
        fated.put(hub, f"/closed/with-{status}", "no", "failed", "forbidden", status=status)


def _out_of_order(fated: FatedSite) -> None:
    """Statuses, and servers that need a moment."""
    hub = fated.hub("/status/")
    for status, reason in (
        (404, "not_found"),
        (410, "gone"),
        (418, "status"),
        (400, "status"),
        (204, "status"),
        (206, "status"),
    ):
        fated.put(hub, f"/status/{status}", "x", "failed", reason, status=status)
    fated.put(hub, "/status/304", "", "failed", "status", status=304)  # nobody said what it would not be modified since
    fated.put(hub, "/status/300", "", "failed", "status", status=300)
    fated.put(hub, "/status/500", "x", "failed", "server_error", status=500)
    fated.fate("/status/500", "failed", "server_error", (500,) * (RETRIES + 1))
    fated.put(hub, "/status/503", "x", "failed", "server_error", status=503, headers={"Retry-After": "7200"})
    for name, statuses, wait in (("busy", (429, 503), {"Retry-After": "0"}), ("hiccup", (502, 500), {})):
        fated.page(hub, f"/status/{name}")
        fated.site.replies[f"/status/{name}"] = _after(statuses, fated.site.answer(f"/status/{name}"), wait)
        fated.fate(f"/status/{name}", "new", asked=(*statuses, 200))
    fated.page(hub, "/status/patient", slow=0.2)
    fated.page(hub, "/status/slow", slow=TIMEOUT + 1)
    fated.fate("/status/slow", "failed", "timeout", (200,))


def _after(statuses: Iterable[int], page: Reply, headers: dict[str, str]) -> Callable[[], Reply]:
    left = iter([Reply(b"wait", status, dict(headers)) for status in statuses])
    return lambda: next(left, page)


def _bad_http(fated: FatedSite) -> None:
    hub = fated.hub("/wire/")
    tries = RETRIES + 1
    fated.wire(hub, "/wire/nothing", lambda out: None, "unreachable", tries)
    fated.wire(hub, "/wire/babble", _sends("GOOD MORNING\n\n"), "unreachable", tries)
    fated.wire(hub, "/wire/too-short", _sends(_head("Content-Length: 5000"), "<p>half"), "unreachable", tries)
    fated.wire(hub, "/wire/bad-chunk", _sends(_head("Transfer-Encoding: chunked"), "zz\r\n<p>x"), "unreachable", tries)
    fated.wire(hub, "/wire/says-huge", _sends(_head(f"Content-Length: {10**12}"), "<p>small"), "too_large")
    fated.wire(hub, "/wire/endless", sends_chunks(lambda: b"word " * 1000), "too_large")
    fated.wire(hub, "/wire/drip", sends_chunks(lambda: time.sleep(TIMEOUT / 20) or b"w"), "timeout")
    fated.wire(hub, "/wire/headers", _endless_headers, "unreachable", tries)
    fated.put(hub, "/wire/huge", b"<p>" + b"word " * 100_000, "failed", "too_large")
    fated.page(hub, "/wire/to-the-end")
    body = fated.site.answer("/wire/to-the-end").body.decode()
    fated.site.replies["/wire/to-the-end"] = Reply(
        raw=_sends("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n", body)
    )
    fated.fate("/wire/to-the-end", "new", asked=(0,))


def _head(*headers: str) -> str:
    return "\r\n".join(("HTTP/1.1 200 OK", "Content-Type: text/html", *headers, "", ""))


def _sends(*texts: str) -> Callable[[BufferedIOBase], None]:
    def write(out: BufferedIOBase) -> None:
        out.write("".join(texts).encode())

    return write


def sends_chunks(more: Callable[[], bytes]) -> Callable[[BufferedIOBase], None]:
    """A body without an end, until the crawler hangs up."""

    def write(out: BufferedIOBase) -> None:
        out.write(_head("Transfer-Encoding: chunked").encode())
        while True:
            piece = more()
            out.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    return write


def _endless_headers(out: BufferedIOBase) -> None:
    out.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        out.write(b"X-Filler: " + b"y" * 1000 + b"\r\n")


def _packed(fated: FatedSite) -> None:
    """Bodies that are packed, and such as burst when they are unpacked."""
    hub = fated.hub("/packed/")
    page = f"<title>Packed</title><h1>Packed</h1>{prose('packed')}".encode()
    raw_deflate = zlib.compressobj(wbits=-15)
    for name, encoding, body in (
        ("gzip", "gzip", gzip.compress(page + b"<p>1")),
        ("x-gzip", "x-gzip", gzip.compress(page + b"<p>2")),
        ("zlib", "deflate", zlib.compress(page + b"<p>3")),
        ("deflate", "deflate", raw_deflate.compress(page + b"<p>4") + raw_deflate.flush()),
        ("twice", "gzip, gzip", gzip.compress(gzip.compress(page + b"<p>5"))),
        ("members", "gzip", gzip.compress(page) + gzip.compress(b"<p>6")),
        ("identity", "identity", page + b"<p>7"),
        ("no-encoding", "UTF-8", page + b"<p>8"),
    ):
        fated.put(hub, f"/packed/{name}", body, "new", headers={"Content-Encoding": encoding}, etag=True)
    for name, encoding, body in (
        ("bomb", "gzip", bomb(30)),
        ("twofold-bomb", "gzip, gzip", gzip.compress(bomb(100))),
        ("zlib-bomb", "deflate", zlib.compress(bytes(30_000_000))),
    ):
        fated.put(hub, f"/packed/{name}", body, "failed", "too_large", headers={"Content-Encoding": encoding})
    torn = gzip.compress(page * 50)
    for name, encoding, body in (("torn", "gzip", torn[:-40]), ("not-gzip", "gzip", page)):
        fated.put(hub, f"/packed/{name}", body, "failed", "unreadable", headers={"Content-Encoding": encoding})


def bomb(megabytes: int) -> bytes:
    """Nothing but zeros, in gzip."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([*(packer.compress(bytes(1_000_000)) for _ in range(megabytes)), packer.flush()])


def _encodings(fated: FatedSite) -> None:
    """Pages that say nothing, or something wrong, about the encoding of their words: ``WORDS`` must come out right."""
    hub = fated.hub("/words/")
    for name, (charset, meta, body) in _encoded():
        headers = {"Content-Type": f"text/html{charset}"}
        fated.put(hub, f"/words/{name}", meta.encode() + body, "new", headers=headers, etag=True)


WORDS = {
    "latin": "Größe der Straße",
    "bare-utf8": "Größe über alles",
    "meta": "Привет, мир и дом",
    "banana": "Größe nach Maß",
    "utf16": "Größe in sechzehn",
    "bom": "Größe mit Zeichen",
    "sjis": "日本語の文書です",
}


def _encoded() -> Iterator[tuple[str, tuple[str, str, bytes]]]:
    codecs = {
        "latin": ("; charset=utf-8", "", "cp1252"),
        "bare-utf8": ("", "", "utf-8"),
        "meta": ("", '<meta charset="windows-1251">', "cp1251"),
        "banana": ("; charset=banana", "", "utf-8"),
        "utf16": ("", "", "utf-16"),
        "bom": ("; charset=iso-8859-1", "", "utf-8-sig"),
        "sjis": ("; charset=Shift_JIS", "", "shift_jis"),
    }
    for name, (charset, meta, codec) in codecs.items():
        yield name, (charset, meta, f"<title>{name}</title><h1>{name}</h1><p>{WORDS[name]}.".encode(codec))


def _kinds(fated: FatedSite) -> None:
    """Files: some are read, some are not text, some are not what they say."""
    hub = fated.hub("/files/")
    image = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
    kinds = {
        "image": "image/png",
        "film": "video/mp4",
        "thing": "application/x-thing",
        "json": "application/json",
        "style": "text/css",
    }
    for name, kind in kinds.items():
        fated.put(hub, f"/files/{name}", image, "refused", "not_text", headers={"Content-Type": kind}, etag=True)
    texts = {
        "notes.txt": "text/plain",
        "notes.md": "text/markdown",
        "notes": "text/plain",
        "page.xhtml": "application/xhtml+xml",
    }
    for name, kind in texts.items():
        body = f"<p>Notes of {name}.</p>" if "xhtml" in kind else f"Notes of {name}, which are plain."
        fated.put(hub, f"/files/{name}", body, "new", headers={"Content-Type": kind}, etag=True)
    book = pdf([lines("The printed manual of the account", "says how a team is billed.")], title="Manual")
    fated.put(hub, "/files/manual.pdf", book, "new", headers={"Content-Type": "application/pdf"}, etag=True)
    fated.put(
        hub, "/files/not-a.pdf", b"no PDF at all", "failed", "unreadable", headers={"Content-Type": "application/pdf"}
    )
    fated.put(hub, "/files/blob", image, "failed", "unreadable", headers={"Content-Type": "application/octet-stream"})
    fated.put(hub, "/files/picture", image, "failed", "unreadable")
    deep = "<div>" * 3000 + "<p>At the bottom of it all." + "</div>" * 3000
    fated.put(hub, "/files/deep", f"<title>Deep</title><h1>Deep</h1>{deep}", "new", etag=True)
    fated.put(hub, "/files/nulls", b"<title>Nulls</title><p>Words\x00 between\x00 nulls.", "new", etag=True)
    many = "".join(f'<a href="/files/#{number}">x</a>' for number in range(4000))
    fated.page(hub, "/files/anchors", prose("anchors") + many)
