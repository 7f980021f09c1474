"""The page by keyboard alone: where the focus is, what letters do, and that dialogs hold it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.console.driving import Watched, settled, titles, toast
from tests.console.stored import Stored

pytestmark = pytest.mark.promise("MCP-8")


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.id || document.activeElement.innerText")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_curator_needs_no_mouse(watched: Callable[..., Watched], stored: Stored) -> None:
    page = watched(viewport={"width": 1280, "height": 860}).sign_in(stored.base)
    press(page, "1")
    settled(page)
    assert focused(page) == "tab-pending"
    press(page, "ArrowRight")
    settled(page)
    assert focused(page) == "tab-flagged"
    expect(page.locator("#tab-flagged")).to_have_attribute("aria-selected", "true")
    press(page, "End", "Home", "ArrowRight")
    settled(page)

    listed = titles(page)
    press(page, "j", "j")
    assert focused(page) == listed[2]
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    press(page, "x", "j", "Shift+X", "k")
    expect(page.locator("#bar")).to_contain_text("2 selected")
    expect(page.locator(".dossier h2")).to_have_text(listed[2])

    press(page, "e")
    asked = page.get_by_role("dialog", name="Archive 2 documents?")
    go = asked.get_by_role("button", name="Archive")
    expect(go).to_be_focused()
    for _ in range(8):
        press(page, "Tab")
        assert page.evaluate(
            "document.activeElement.closest('dialog') !== null || document.activeElement === document.body"
        )
    press(page, "Escape")
    expect(asked).to_be_hidden()
    assert focused(page) == listed[2], "the focus goes back to where it was"

    press(page, "f")
    toast(page, "2 documents kept flagged.")
    settled(page)
    press(page, "u")
    toast(page, "Undone. 2 documents are as before.")
    settled(page)
    assert titles(page) == listed

    press(page, "?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("Undo what was done last")
    press(page, "Escape", "/")
    page.keyboard.type("invoices")
    expect(page.locator(".row")).to_have_count(1)
    press(page, "Enter", "w")
    editor = page.get_by_role("dialog", name="Rewrite “Where invoices are sent”")
    expect(editor.get_by_label("Text (Markdown)")).to_be_focused()
    page.keyboard.type("aekx?")
    expect(editor).to_be_visible()
    press(page, "Escape")
    expect(editor).to_be_hidden()


def test_every_control_has_a_name_and_every_part_a_role(watched: Callable[..., Watched], stored: Stored) -> None:
    page = watched(viewport={"width": 1280, "height": 860}).sign_in(stored.base)
    nameless = """() => [...document.querySelectorAll('button, input, select, textarea, a[href]')]
        .filter((each) => !(each.innerText || each.ariaLabel || (each.labels && each.labels.length)))
        .map((each) => each.outerHTML)"""
    for number in range(1, 9):
        page.keyboard.press(str(number))
        settled(page)
        assert page.evaluate(nameless) == []
    expect(page.get_by_role("tab")).to_have_count(8)
    expect(page.get_by_role("tabpanel")).to_have_attribute("aria-labelledby", "tab-digest")
