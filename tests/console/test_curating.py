"""CUR-6, CUR-7, CUR-8, CUR-13 in a browser: what a curator does on the page is done, shown, and taken back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.console.driving import Watched, count, dialog, go_to, row, settled, titles, toast
from tests.console.filled import FLAGGED, LIVE
from tests.console.stored import Stored

pytestmark = pytest.mark.promise("MCP-8")
Open = Callable[..., Watched]


@pytest.fixture
def page(watched: Open, stored: Stored) -> Page:
    return watched(viewport={"width": 1280, "height": 860}).sign_in(stored.base)


def choose(page: Page, *names: str) -> None:
    for name in names:
        row(page, name).get_by_role("checkbox").check()


def act(page: Page, action: str) -> None:
    page.locator("#bar").get_by_role("button", name=action, exact=True).click()


@pytest.mark.promise("CUR-6")
@pytest.mark.promise("CUR-7")
def test_ten_are_approved_at_once_and_taken_back_at_once(page: Page, stored: Stored) -> None:
    go_to(page, "pending")
    before = int(count(page, "pending"))
    page.get_by_label("Find").fill("connect ")
    expect(page.locator(".row")).to_have_count(11)
    page.get_by_label("Select all on this page").check()
    page.locator(".row").nth(4).get_by_role("checkbox").uncheck()
    expect(page.locator("#bar")).to_contain_text("10 selected")
    act(page, "Approve")
    asked = dialog(page, "Approve 10 documents?")
    expect(asked.locator(".changes li")).to_have_count(9)
    asked.get_by_role("button", name="Approve").click()
    shown = toast(page, "10 documents approved.")
    expect(page.locator(".row")).to_have_count(1)
    assert count(page, "pending") == str(before - 10)
    assert stored.statuses("Connect %").count("live") == 10
    shown.get_by_role("button", name="Undo").click()
    toast(page, "Undone. 10 documents are as before.")
    expect(page.locator(".row")).to_have_count(11)
    assert stored.statuses("Connect %") == ["pending"] * 11
    assert page.locator("#bar").is_hidden()


@pytest.mark.promise("CUR-13")
@pytest.mark.promise("MCP-5")
def test_archiving_shows_what_changes_and_is_undone_in_recent(page: Page, stored: Stored) -> None:
    choose(page, "Rotate an API key", "Single sign-on with SAML")
    act(page, "Archive")
    asked = dialog(page, "Archive 2 documents?")
    expect(asked.locator(".changes")).to_contain_text("used in 19 recent answers")
    expect(asked.locator(".answers")).to_contain_text("Rotate an API key?")
    page.keyboard.press("Escape")
    expect(asked).to_be_hidden()
    assert stored.status("Rotate an API key") == "flagged"
    expect(page.locator("#bar")).to_contain_text("2 selected")

    act(page, "Archive")
    asked = dialog(page, "Archive 2 documents?")
    asked.get_by_label("Reason").fill("replaced by the new guide")
    asked.get_by_role("button", name="Archive").click()
    toast(page, "2 documents archived.")
    assert stored.status("Rotate an API key") == "archived"
    go_to(page, "archived")
    assert "Single sign-on with SAML" in titles(page)

    go_to(page, "recent")
    done = page.locator(".card").first
    expect(done).to_contain_text("replaced by the new guide")
    done.get_by_role("button", name="Undo").click()
    toast(page, "Undone.")
    settled(page)
    assert stored.status("Rotate an API key") == "flagged"
    expect(page.locator(".card").nth(1)).to_contain_text("Undone")
    expect(page.locator(".card").nth(1).get_by_role("button", name="Undo")).to_have_count(0)


@pytest.mark.promise("CUR-8")
def test_a_rewrite_is_previewed_done_and_the_old_text_brought_back(page: Page, stored: Stored) -> None:
    row(page, "Where invoices are sent").locator(".row-title").click()
    detail = page.locator(".dossier")
    detail.get_by_role("button", name="Rewrite").click()
    editor = dialog(page, "Rewrite “Where invoices are sent”")
    expect(editor.get_by_role("button", name="Preview changes")).to_be_disabled()
    box = editor.get_by_label("Text (Markdown)")
    old = box.input_value()
    box.fill(old.replace("first day", "third day"))
    page.keyboard.press("Escape")
    detail.get_by_role("button", name="Rewrite").click()
    expect(editor).to_contain_text("What you typed before is back.")
    editor.get_by_label("Title").fill("Where and when invoices are sent")
    editor.get_by_role("button", name="Preview changes").click()
    expect(editor.locator("del")).to_have_text("first")
    expect(editor.locator("ins")).to_have_text("third")
    editor.get_by_role("button", name="Rewrite", exact=True).click()
    toast(page, "“Where invoices are sent” rewritten.")
    settled(page)
    assert "third day" in stored.text("Where and when invoices are sent")
    expect(detail.get_by_role("heading", level=2)).to_have_text("Where and when invoices are sent")
    expect(detail).to_contain_text("What differs")
    detail.get_by_role("button", name="Bring it back").click()
    toast(page, "Undone.")
    settled(page)
    assert stored.text("Where invoices are sent") == old


def test_kept_documents_move_down_and_say_so(page: Page, stored: Stored) -> None:
    choose(page, "Export all records")
    act(page, "Keep flagged")
    toast(page, "“Export all records” kept flagged.")
    settled(page)
    assert titles(page)[-1] == "Export all records"
    expect(row(page, "Export all records")).to_contain_text("looked at since")
    assert stored.status("Export all records") == "flagged"


def test_a_dossier_shows_why_what_differs_and_how_much_it_is_used(page: Page) -> None:
    row(page, "Rate limits of the API").locator(".row-title").click()
    settled(page)
    detail = page.locator(".dossier")
    for words in ("Source gone", "answers 404 since 2026-03-02", "Complaint", "used in 24 recent answers", "Harm "):
        expect(detail).to_contain_text(words)
    expect(detail.locator(".pair mark")).to_have_text(["1,000", "600"])
    detail.get_by_role("button", name="Open “Roles").click()
    expect(detail.get_by_role("heading", level=2)).to_have_text("Roles and permissions")
    assert set(titles(page)) >= set(FLAGGED) - {"Where invoices are sent"}
    assert not set(titles(page)) & set(LIVE)


def test_a_range_is_chosen_with_shift_and_filters_narrow_the_list(page: Page) -> None:
    boxes = page.locator(".row input")
    boxes.nth(1).check()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(page.locator(".row.selected")).to_have_count(4)
    page.get_by_label("Signal").select_option("dead_source")
    settled(page)
    assert all("Source gone" in text for text in page.locator(".row").all_inner_texts())
    expect(page.locator("#bar")).to_contain_text("4 selected")
    page.get_by_label("Find").fill("no such title")
    expect(page.locator(".list .empty")).to_contain_text("Nothing matches")
    page.get_by_role("button", name="Clear the filters").click()
    expect(boxes).not_to_have_count(0)
    page.locator("#bar").get_by_role("button", name="Clear").click()
    expect(page.locator("#bar")).to_be_hidden()


def test_a_failure_says_what_failed_and_keeps_the_selection(page: Page, stored: Stored) -> None:
    choose(page, "Delete a workspace")
    page.context.set_offline(True)
    act(page, "Keep flagged")
    toast(page, "The server cannot be reached.")
    expect(page.locator("#bar")).to_contain_text("1 selected")
    page.context.set_offline(False)
    stored.archive("Delete a workspace")
    act(page, "Keep flagged")
    toast(page, "Nothing was changed. Left as it is: “Delete a workspace”: It is archived")
    stored.restore("Delete a workspace")


def test_corrections_and_official_answers_are_decided(page: Page, stored: Stored) -> None:
    go_to(page, "corrections")
    card = page.locator("[data-id=cor_limits]")
    expect(card.locator("ins")).to_have_text("1,000")
    why = stored.one("SELECT status_reason FROM corrections WHERE id = 'cor_limits'")
    for action, words in (("Approve", "it reaches agents from now on"), ("Give up", "it reaches nobody any more")):
        card.get_by_role("button", name=action).click()
        shown = toast(page, words)
        expect(card).to_have_count(0)
        if action == "Approve":
            shown.get_by_role("button", name="Undo").click()
        else:
            page.keyboard.press("u")
        expect(card).to_have_count(1)
        expect(shown).to_have_count(0)
        assert stored.one("SELECT status || decided_by FROM corrections WHERE id = 'cor_limits'") == "pending"
        assert stored.one("SELECT status_reason FROM corrections WHERE id = 'cor_limits'") == why
    card.get_by_role("button", name="Approve").click()
    toast(page, "it reaches agents from now on")
    expect(card).to_have_count(0)
    assert stored.one("SELECT status FROM corrections WHERE id = 'cor_limits'") == "active"
    go_to(page, "verified")
    page.locator("[data-id=ver_sso]").get_by_role("button", name="Reword and approve").click()
    asked = dialog(page, "Approve in other words")
    asked.get_by_label("The official answer").fill("Yes, on every plan.")
    asked.get_by_role("button", name="Approve").click()
    toast(page, "it is the official answer from now on")
    assert stored.one("SELECT answer FROM verified_responses WHERE id = 'ver_sso'") == "Yes, on every plan."
    page.get_by_label("Show").select_option("active")
    settled(page)
    page.locator("[data-id=ver_trial]").get_by_role("button", name="Retire").click()
    toast(page, "Retired")
    assert stored.one("SELECT status FROM verified_responses WHERE id = 'ver_trial'") == "retired"


@pytest.mark.promise("CUR-9")
def test_the_digest_has_figures_and_plots_that_can_be_read_aloud(page: Page) -> None:
    go_to(page, "digest")
    expect(page.locator(".tiles")).to_contain_text("sent to the web in 7 days")
    expect(page.locator("svg.plot")).to_have_count(2)
    assert page.locator("svg.plot").first.locator("g").count() == 14
    assert page.locator(".chart table").first.locator("tbody tr").count() == 14
    expect(page.locator(".digest")).to_contain_text("Asked most without an answer")
    page.get_by_role("button", name="corrections wait").click()
    expect(page.locator("#tab-corrections")).to_have_attribute("aria-selected", "true")


def test_gaps_say_how_often_and_what_closes_them(page: Page) -> None:
    go_to(page, "gaps")
    expect(page.locator(".card")).to_have_count(2)
    expect(page.locator(".card").first).to_contain_text("9×")
    expect(page.locator(".card").first).to_contain_text("The web was not asked yet.")
    page.get_by_label("Topic").fill("nothing like it")
    expect(page.locator(".empty")).to_contain_text("No gaps")


def test_the_record_says_who_did_what(page: Page) -> None:
    go_to(page, "recent")
    page.get_by_label("Show").select_option("audit")
    settled(page)
    page.get_by_label("What").select_option("rewrite")
    settled(page)
    expect(page.locator("tbody tr").last).to_contain_text("ann")
    assert set(page.locator("tbody .chip").all_inner_texts()) == {"Rewrite"}
