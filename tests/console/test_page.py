"""MCP-8: the page is one document that brings all it needs, and makes elements of no text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

import harry_mcp.console.page as page
from harry_mcp.console.page import console_page

pytestmark = pytest.mark.promise("MCP-8")
FOLDER = files(page)
FILES = sorted(each.name for each in FOLDER.iterdir() if each.name.endswith((".js", ".css")))


class Elements(HTMLParser):
    """Tags with their attributes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_style_and_script_carry_the_nonce_and_nothing_comes_from_elsewhere() -> None:
    elements = Elements(console_page(mode="admin", nonce="n-1", csrf="c-1"))
    assert [each["nonce"] for tag in ("style", "script") for each in elements.of(tag)] == ["n-1", "n-1"]
    assert {"name": "harry-csrf", "content": "c-1"} in elements.of("meta")
    for tag, attributes in elements.found:
        assert "src" not in attributes, tag
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert attributes.get("href", "#") in ("#panel", "data:,", "#")


def test_in_a_host_it_carries_no_nonce_and_no_secret() -> None:
    text = console_page(mode="app")
    elements = Elements(text)
    assert elements.of("html") == [{"lang": "en", "data-mode": "app"}]
    assert "nonce=" not in text
    assert {"name": "harry-csrf", "content": ""} in elements.of("meta")


def test_what_is_filled_in_stays_an_attribute() -> None:
    elements = Elements(console_page(mode="admin", nonce='"><img src=x>', csrf='"><script>alert(1)</script>'))
    assert len(elements.of("script")) == len(elements.of("style")) == 1
    assert elements.of("img") == []


def test_every_file_is_in_the_page_once() -> None:
    text = console_page(mode="admin", nonce="n", csrf="c")
    for name in FILES:
        assert text.count(FOLDER.joinpath(name).read_text(encoding="utf-8")) == 1, name
    assert "{{" not in text


@pytest.mark.parametrize("name", FILES)
def test_no_file_makes_markup_of_text_or_loads_anything(name: str) -> None:
    text = FOLDER.joinpath(name).read_text(encoding="utf-8")
    forbidden = (
        *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", 'setTimeout("'),
        *("createContextualFragment", "srcdoc", "@import", "</script", "</style", "<!--", "localStorage"),
    )
    assert [word for word in forbidden if word in text] == []
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}, "a namespace is no address that is loaded"
    assert text.count("\n") < 250
