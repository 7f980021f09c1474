"""CUR-6, CUR-7, CUR-8 in a browser: two windows on one document, and an undo that leaves nothing to press twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.console.driving import Watched, dialog, row, settled, toast
from tests.console.stored import Stored

pytestmark = pytest.mark.promise("MCP-8")
Open = Callable[..., Watched]
SIZE = {"width": 1280, "height": 860}


def editor(page: Page, title: str) -> Locator:
    row(page, title).locator(".row-title").click()
    page.locator(".dossier").get_by_role("button", name="Rewrite").click()
    return dialog(page, f"Rewrite “{title}”")


def rewritten(shown: Locator, old: str, new: str) -> None:
    box = shown.get_by_label("Text (Markdown)")
    box.fill(box.input_value().replace(old, new))
    shown.get_by_role("button", name="Preview changes").click()
    expect(shown.get_by_role("button", name="Rewrite", exact=True)).to_be_enabled()


@pytest.mark.promise("CUR-6")
@pytest.mark.promise("CUR-8")
@pytest.mark.parametrize("when", ["before the preview", "after the preview", "while the editor was closed"])
def test_two_windows_do_not_overwrite_one_another(watched: Open, stored: Stored, when: str) -> None:
    title = "Mobile app: offline mode"
    one, two = (watched(viewport=SIZE).sign_in(stored.base) for _ in range(2))
    mine, theirs = editor(one, title), editor(two, title)
    box = mine.get_by_label("Text (Markdown)")
    kept = box.input_value().replace("online again", "online once more")
    if when == "after the preview":
        rewritten(mine, "online again", "online once more")
    else:
        box.fill(kept)
    if when == "while the editor was closed":
        one.keyboard.press("Escape")
        expect(mine).to_be_hidden()
    rewritten(theirs, "last 200 records", "last 300 records")
    theirs.get_by_role("button", name="Rewrite", exact=True).click()
    done = toast(two, f"“{title}” rewritten.")
    assert "300 records" in stored.text(title)

    if when == "after the preview":
        mine.get_by_role("button", name="Rewrite", exact=True).click()
    elif when == "before the preview":
        mine.get_by_role("button", name="Preview changes").click()
    else:
        one.locator(".dossier").get_by_role("button", name="Rewrite").click()
    notice = mine.get_by_role("alert")
    expect(notice).to_contain_text("It was changed since you typed this." if "closed" in when else "changed it on")
    expect(notice.locator("del")).to_have_text("200")
    expect(notice.locator("ins")).to_have_text("300")
    expect(mine.get_by_label("Text (Markdown)")).to_have_value(kept)
    assert "300 records" in stored.text(title), "nothing was changed"

    rewritten(mine, "last 200 records", "last 300 records")
    mine.get_by_role("button", name="Rewrite", exact=True).click()
    last = toast(one, f"“{title}” rewritten.")
    assert "300 records and sends changes when it is online once more" in stored.text(title)
    last.get_by_role("button", name="Undo").click()
    toast(one, "Undone.")
    done.get_by_role("button", name="Undo").click()
    toast(two, "Undone.")
    assert "200 records" in stored.text(title)


@pytest.mark.promise("CUR-7")
def test_an_undo_takes_away_what_offers_it(watched: Open, stored: Stored) -> None:
    page = watched(viewport=SIZE).sign_in(stored.base)
    row(page, "Regions and residency").get_by_role("checkbox").check()
    page.locator("#bar").get_by_role("button", name="Keep flagged", exact=True).click()
    offered = toast(page, "“Regions and residency” kept flagged.")
    settled(page)
    row(page, "Regions and residency").locator(".row-title").click()
    page.locator(".dossier").get_by_role("button", name="Undo").first.click()
    toast(page, "Undone. 1 document is as before.")
    expect(offered).to_have_count(0)
    expect(page.locator(".toast")).to_have_count(1)
    expect(page.locator(".toast").get_by_role("button", name="Undo")).to_have_count(0)


def test_on_a_small_screen_a_message_covers_little_and_not_for_long(watched: Open, stored: Stored) -> None:
    small = watched(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    small.page.clock.install()
    page = small.sign_in(stored.base)
    told = ""
    for _ in range(2):
        row(page, "Retries of webhooks").get_by_role("checkbox").check()
        page.locator("#bar").get_by_role("button", name="Keep flagged", exact=True).click()
        # Both say the same: the second must have come before the clock goes on.
        expect(page.locator(f".toast:not([data-undoes='{told}'])")).to_be_visible()
        told = toast(page, "“Retries of webhooks” kept flagged.").get_attribute("data-undoes") or ""
        assert told
        settled(page)
    expect(page.locator(".toast")).to_have_count(1)
    page.clock.fast_forward(9_000)
    expect(page.locator(".toast")).to_have_count(0)


@pytest.mark.promise("COR-7")
def test_corrections_that_wait_are_told_from_those_that_are_active(watched: Open, stored: Stored) -> None:
    page = watched(viewport=SIZE).sign_in(stored.base, "corrections")
    page.get_by_label("Show").select_option("deprecated")
    settled(page)
    expect(page.locator(".empty")).to_contain_text("No correction was given up")
    expect(page.locator(".empty")).to_contain_text("active; choose Active to see")
