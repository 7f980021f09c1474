"""Sources: what there is to read, one clear sentence for what cannot be, and never a private address."""

from __future__ import annotations

import gzip
import os
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import SourceError
from harry_mcp.ingest.addresses import canonical_address, is_public
from harry_mcp.ingest.fetched import FetchedPage, Largest
from harry_mcp.ingest.fetching import fetch_page
from harry_mcp.ingest.packages import installed_packages
from harry_mcp.ingest.sources import Unreadable, expand, file_of, missing_sources, read_each

pytestmark = pytest.mark.promise("ING-1")


def _names(target: Path | str) -> list[str]:
    return [Path(file_of(item.source) or "").name for item in expand(str(target))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    for name in ("a.md", "b.RST", "sub/c.txt", "sub/d.html", ".hidden/e.md", ".git/f.md", "node_modules/g.md", "h.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"Words of {name}", encoding="utf-8")
    (root / "env" / "lib").mkdir(parents=True)
    (root / "env" / "pyvenv.cfg").touch()
    (root / "env" / "lib" / "i.md").touch()
    return root


def test_a_folder_gives_its_documents_in_order(folder: Path) -> None:
    assert _names(folder) == ["a.md", "b.RST", "c.txt", "d.html"]
    items = list(expand(str(folder)))
    assert items[0].source == (folder / "a.md").resolve().as_uri()
    documents = [item.read() for item in items]
    assert [document.source for document in documents] == [item.source for item in items]
    assert documents[0].text == "Words of a.md"


def test_a_file_a_uri_and_a_glob(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _names(folder / "a.md") == ["a.md"]
    assert _names((folder / "a.md").as_uri()) == ["a.md"]
    assert _names(folder / "**" / "*.txt") == ["c.txt"]
    assert _names(folder / "*") == ["a.md", "b.RST"]
    assert _names(folder / "*.png") == ["h.png"]  # named, so it is meant
    monkeypatch.chdir(folder)
    assert _names("sub") == ["c.txt", "d.html"]
    assert _names("sub/../a.md") == ["a.md"]
    assert next(expand("a.md")).source == next(expand(str(folder / "a.md"))).source


def test_a_name_with_spaces_brackets_and_accents(tmp_path: Path) -> None:
    path = tmp_path / "Größe [1] %20.md"
    path.write_text("words here", encoding="utf-8")
    item = next(expand(str(path)))
    assert file_of(item.source) == path.resolve()
    assert item.read().title == "Größe [1] %20"


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("nowhere", "There is no file or folder nowhere."),
        ("nowhere/*.md", "No file matches nowhere/\\*.md."),
        (".", "\\. holds no documents; what is read is Markdown"),
        ("http://", "http:// is not an http or https address."),
        ("https://user:secret@x.org/", "holds a user name or password"),
    ],
)
def test_nothing_to_read_is_said_at_once(
    target: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=sentence) as raised:
        expand(target)
    assert "secret" not in str(raised.value)


@pytest.mark.promise("ING-5")
def test_one_unreadable_file_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\x00\x01\x02\x03")
    (tmp_path / "b.md").write_text("", encoding="utf-8")
    (tmp_path / "c.md").write_text("words", encoding="utf-8")
    (tmp_path / "d.md").write_text("words " * 100, encoding="utf-8")
    found = list(read_each(expand(str(tmp_path), largest=Largest(other=100))))
    assert [type(each) for each in found] == [Unreadable, Unreadable, SourceDocument, Unreadable]
    reasons = [each.reason for each in found if isinstance(each, Unreadable)]
    assert reasons[0].endswith("a.md is a binary file, not text.")
    assert "holds no text" in reasons[1]
    assert "larger than 0 KB" in reasons[2]


@pytest.mark.promise("ING-5")
def test_a_file_that_goes_away_between_is_reported(folder: Path) -> None:
    items = expand(str(folder))
    (folder / "a.md").unlink()
    first, *others = read_each(items)
    assert isinstance(first, Unreadable)
    assert "no such file" in first.reason
    assert len(others) == 3


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_links_make_no_loops_and_lead_nowhere_outside(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (folder / "loop").symlink_to(folder)
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "again.md").symlink_to(folder / "a.md")
    (folder / "broken.md").symlink_to(folder / "gone.md")
    assert _names(folder) == ["a.md", "b.RST", "c.txt", "d.html"]
    (tmp_path / "link").symlink_to(folder)
    assert _names(tmp_path / "link") == ["a.md", "b.RST", "c.txt", "d.html"]


@pytest.mark.promise("ING-5")
def test_sources_that_are_gone_are_listed(folder: Path, tmp_path: Path) -> None:
    known = [item.source for item in expand(str(folder))]
    (folder / "sub" / "c.txt").unlink()
    others = ["https://x.org/a", "package:x", (tmp_path / "elsewhere.md").as_uri()]
    assert missing_sources(str(folder), known + others) == [known[2]]


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, headers, body = PAGES.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/page": (200, {"Content-Type": "text/html; charset=iso-8859-1"}, "<h1>Größe</h1><p>Words here.".encode("latin-1")),
    "/text.md": (200, {"Content-Type": "text/plain"}, b"---\ntitle: T\n---\n**words**"),
    "/zip": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, gzip.compress(b"words " * 99_999)),
    "/image": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
    "/loop": (302, {"Location": "/loop"}, b""),
    "/moved": (301, {"Location": "/page#part"}, b""),
    "/inside": (302, {"Location": "http://169.254.169.254/latest/meta-data/"}, b""),
    "/scheme": (302, {"Location": "file:///etc/passwd"}, b""),
    "/refused": (403, {}, b""),
    "/broken": (500, {}, b""),
}


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_page_is_read_from_its_last_address(site: str) -> None:
    document = next(expand(f"{site}/moved", fetch=partial(fetch_page, allow_private=True))).read()
    assert document.source == document.url == f"{site}/page"
    assert document.title == "Größe"
    fetched = fetch_page(f"{site}/text.md", allow_private=True)
    assert next(expand(f"{site}/text.md", fetch=lambda _: fetched)).read().text == "**words**"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/nothing", "there is no page there"),
        ("/refused", "the site refuses access"),
        ("/broken", "the site answers with status 500"),
        ("/loop", "it redirects more than 5 times"),
        ("/scheme", "file:///etc/passwd is not an http or https address"),
        ("/image", "it is image/png; what is read is Markdown, reST, HTML"),
        ("/zip", "it is larger than 100 KB"),
    ],
)
def test_each_failure_is_one_sentence(site: str, path: str, sentence: str) -> None:
    fetch = partial(fetch_page, allow_private=True, largest=Largest(other=100 * 1024))
    (found,) = read_each(expand(site + path, fetch=fetch))
    assert isinstance(found, Unreadable)
    assert sentence in found.reason


@pytest.mark.promise("ING-2")
def test_private_addresses_are_refused_also_after_a_redirect(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match=r"127\.0\.0\.1 is a private address"):
        fetch_page(f"{site}/page")
    with pytest.raises(SourceError, match="is a private address"):
        fetch_page(site.replace("127.0.0.1", "localhost"))

    # The first host counts as public here, so that only the redirect can be refused.
    def not_link_local(address: str) -> bool:
        return not address.startswith("169.")

    monkeypatch.setattr("harry_mcp.ingest.addresses.is_public", not_link_local)
    with pytest.raises(SourceError, match=r"169\.254\.169\.254 is a private address"):
        fetch_page(f"{site}/inside")


def test_a_site_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(SourceError, match="did not answer in time"):
            fetch_page(address, allow_private=True, timeout=0.3)
    with pytest.raises(SourceError, match="cannot be read"):
        fetch_page(address, allow_private=True, timeout=2)
    with pytest.raises(SourceError, match="cannot be found"):
        fetch_page("http://no-such-host.invalid/")


@pytest.mark.promise("ING-2")
@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("10.0.0.1", False),
        ("127.0.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTPS://X.org:443/A#b", "https://x.org/A"),
        ("http://x.org", "http://x.org/"),
        ("http://x.org:8080/a?utm_source=1&b=2", "http://x.org:8080/a?b=2"),
        ("http://bücher.example/ü%20 x", "http://xn--bcher-kva.example/%C3%BC%20%20x"),
        ("http://[::1]:80/", "http://[::1]/"),
    ],
)
def test_canonical_addresses(url: str, canonical: str) -> None:
    assert canonical_address(url) == canonical
    assert canonical_address(canonical) == canonical


def test_installed_packages_are_documents() -> None:
    items = {item.source: item for item in installed_packages()}
    assert list(items) == sorted(items)
    document = items["package:httpx"].read()
    assert document.title == "httpx"
    assert document.url.startswith("https://")
    assert "HTTP" in document.text
    documents = [each for each in read_each(items.values()) if isinstance(each, SourceDocument)]
    assert len(documents) > 20
    assert len(documents) >= 0.9 * len(items)


def test_the_fetcher_is_any_callable() -> None:
    page = FetchedPage(url="https://x.org/a", body=b"words here", media_type="text/markdown")
    assert next(expand("https://x.org/a", fetch=lambda url: page)).read().text == "words here"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.promise("ING-5")
def test_a_named_pipe_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (read,) = read_each(expand(str(tmp_path)))
    assert isinstance(read, Unreadable)
    assert "no regular file" in read.reason
