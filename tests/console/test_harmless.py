"""CUR-6, OPS-1: titles, questions, reasons and addresses that are markup or scripts are shown as text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.console.driving import TABS, Watched, dialog, go_to, settled
from tests.console.filled import HOSTILE
from tests.console.stored import Stored

pytestmark = [pytest.mark.promise("MCP-8"), pytest.mark.promise("OPS-1")]


def shows_it_as_text(page: Page) -> None:
    assert HOSTILE in page.locator("body").inner_text()
    assert page.locator("img, iframe, object, embed, script[src]").count() == 0
    assert page.locator("[href^=javascript], [onerror], [onclick]").count() == 0
    for link in page.locator("a[target]").all():
        assert link.get_attribute("rel") == "noopener noreferrer"
        assert (link.get_attribute("href") or "").startswith("https://")


def test_markup_is_text_on_every_tab_and_in_every_dialog(watched: Callable[..., Watched], stored: Stored) -> None:
    page = watched(viewport={"width": 1280, "height": 860}).sign_in(stored.base)
    for tab in TABS:
        go_to(page, tab)
        if tab == "archived":
            page.locator(".row-title", has_text="Beta of the desktop app").click()
        if tab == "recent":
            page.get_by_label("Show").select_option("audit")
            page.get_by_role("searchbox", name="Who").fill("ann")
            expect(page.locator("tbody tr")).to_have_count(3)
            settled(page)
            shows_it_as_text(page)
            page.get_by_label("Show").select_option("actions")
            settled(page)
            while HOSTILE not in page.locator("body").inner_text():
                page.get_by_role("button", name="Next").click()
                settled(page)
        if tab in ("corrections", "verified"):
            page.get_by_label("Show").select_option("all")
        settled(page)
        expect(page.locator("body")).to_contain_text(HOSTILE)
        shows_it_as_text(page)
    go_to(page, "flagged")
    page.get_by_label("Find").fill(HOSTILE)
    expect(page.locator(".row")).to_have_count(2)
    page.locator(".row:has-text('4 signals') .row-title").click()
    settled(page)
    shows_it_as_text(page)
    detail = page.locator(".dossier")
    detail.get_by_role("button", name="Archive").click()
    asked = dialog(page, f"Archive “{HOSTILE}”?")
    expect(asked.get_by_role("button", name="Archive")).to_be_enabled()
    shows_it_as_text(page)
    page.keyboard.press("Escape")
    detail.get_by_role("button", name="Rewrite").click()
    editor = dialog(page, f"Rewrite “{HOSTILE}”")
    editor.get_by_label("Text (Markdown)").fill(f"{HOSTILE} <script>alert(2)</script> [x](javascript:alert(3))")
    editor.get_by_role("button", name="Preview changes").click()
    expect(editor.get_by_role("button", name="Rewrite", exact=True)).to_be_enabled()
    shows_it_as_text(page)
    page.keyboard.press("Escape")
    detail.get_by_role("button", name="Keep flagged").click()
    expect(page.locator(".toast")).to_contain_text(f"“{HOSTILE}” kept flagged.")
    shows_it_as_text(page)
