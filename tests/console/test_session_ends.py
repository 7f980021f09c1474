"""A session that ends in the middle: the page asks again, and what was chosen and typed is still there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.console.driving import Watched, count, dialog, row, toast
from tests.console.served import TOKEN
from tests.console.stored import Stored

pytestmark = pytest.mark.promise("MCP-8")


def test_what_was_typed_outlives_the_session(watched: Callable[..., Watched], stored: Stored) -> None:
    page = watched(viewport={"width": 1280, "height": 860}).sign_in(stored.base)
    row(page, "Import from a spreadsheet").locator(".row-title").click()
    page.locator(".dossier").get_by_role("button", name="Rewrite").click()
    editor = dialog(page, "Rewrite “Import from a spreadsheet”")
    box = editor.get_by_label("Text (Markdown)")
    box.fill(box.input_value().replace("5 MB", "50 MB"))
    page.context.clear_cookies()
    editor.get_by_role("button", name="Preview changes").click()
    ended = dialog(page, "Your session has ended")
    expect(ended).to_contain_text("your session has ended, or the token that it began with")
    ended.get_by_label("Token").fill("not the token of this server")
    page.keyboard.press("Enter")
    expect(ended.get_by_role("alert")).to_have_text("This server does not know the token. Sign in with another token.")
    ended.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(ended).to_be_hidden()
    editor.get_by_role("button", name="Rewrite", exact=True).click()
    toast(page, "“Import from a spreadsheet” rewritten.")
    assert "50 MB" in stored.text("Import from a spreadsheet")

    row(page, "Retries of webhooks").get_by_role("checkbox").check()
    page.context.clear_cookies()
    page.locator("#bar").get_by_role("button", name="Keep flagged").click()
    dialog(page, "Your session has ended").get_by_role("button", name="Not now").click()
    toast(page, "You are signed out, so nothing was done.")
    expect(page.locator("#bar")).to_contain_text("1 selected")


def test_signing_out_ends_it(watched: Callable[..., Watched], stored: Stored) -> None:
    page = watched().sign_in(stored.base)
    assert int(count(page, "flagged")) > 0
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to the curation console")).to_be_visible()
    page.goto(f"{stored.base}/admin")
    expect(page.get_by_role("tablist")).to_have_count(0)
