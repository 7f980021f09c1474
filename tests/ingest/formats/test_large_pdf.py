"""ING-5: a PDF may be large: it is read from the disk, page by page, and never held in memory as a whole."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.ingest.fetched import Largest
from harry_mcp.ingest.fetching import fetch_page
from harry_mcp.ingest.formats.readers import read_pdf
from harry_mcp.ingest.sources import Unreadable, expand, read_each
from harry_mcp.ingest.targets import items_of
from harry_mcp.settings import IngestSection
from tests.ingest.formats.pdfs import both, lines, pdf
from tests.ingest.formats.test_pdf import watched

pytestmark = pytest.mark.promise("ING-5")

PAGES = 60
LARGEST = Largest(other=1_000_000, pdf=200_000_000)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manual with a picture of a megabyte on every page, that no compression makes smaller."""
    from PIL import Image
    from reportlab import rl_config  # pyright: ignore
    from reportlab.lib.utils import ImageReader  # pyright: ignore

    dice = random.Random(3)

    def picture(canvas: Any) -> None:
        image = Image.frombytes("RGB", (600, 600), dice.randbytes(600 * 600 * 3))
        canvas.drawImage(ImageReader(image), 50, 50, 400, 400)  # pyright: ignore

    pages = [both(picture, lines(f"Page {number} tells how to replace part {number}.")) for number in range(PAGES)]
    path = tmp_path_factory.mktemp("large") / "manual.pdf"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rl_config, "useA85", 0)  # pyright: ignore - pictures as bytes and not as text, which takes a minute
        path.write_bytes(pdf(pages, title="The manual"))
    assert path.stat().st_size > 60_000_000
    return path


def test_a_large_file_is_read_in_bounded_memory(large: Path) -> None:
    warm = lines(*["Enough words of one language, so that what tells languages apart is loaded."] * 20)
    assert read_pdf(pdf([warm]), source="s").language == "en"
    with watched() as peak:
        document = next(expand(str(large), largest=LARGEST)).read()
    assert document.title == "The manual"
    for number in range(PAGES):
        assert f"Page {number} tells how to replace part {number}." in document.text
    assert 0 < peak.worker < 90_000_000
    assert peak.grown < 20_000_000


def test_each_kind_of_file_has_its_limit_and_its_setting(large: Path, tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("words " * 300_000, encoding="utf-8")
    targets = [str(tmp_path / "long.md"), str(large)]

    def read(section: IngestSection) -> list[type]:
        return [type(each) for target in targets for each in read_each(items_of(target, section))]

    assert read(IngestSection()) == [SourceDocument, SourceDocument]
    assert read(IngestSection(file_bytes=1_000_000)) == [Unreadable, SourceDocument]
    assert read(IngestSection(pdf_bytes=1_000_000)) == [SourceDocument, Unreadable]
    (refused,) = read_each(expand(str(large), largest=Largest(pdf=1_000_000)))
    assert isinstance(refused, Unreadable)
    assert "is larger than 976 KB" in refused.reason


@pytest.fixture
def site(large: Path) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/pdf" if self.path != "/text" else "text/plain")
            self.end_headers()
            with large.open("rb") as file:
                while piece := file.read(65_536):
                    try:
                        self.wfile.write(piece)
                    except OSError:
                        return

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_large_pdf_from_the_web_goes_to_the_disk(site: str, large: Path) -> None:
    fetch = partial(fetch_page, allow_private=True, largest=LARGEST)
    with watched() as peak, closing(fetch(f"{site}/manual.pdf")) as page:
        assert (page.size, page.body) == (large.stat().st_size, b"")
    document = next(expand(f"{site}/manual.pdf", fetch=fetch)).read()
    assert "Page 59 tells" in document.text
    assert peak.grown < 20_000_000
    (refused,) = read_each(expand(f"{site}/text", fetch=fetch))
    assert isinstance(refused, Unreadable)
    assert "is larger than 976 KB" in refused.reason
