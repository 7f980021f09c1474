"""MCP-8: the same page inside a host of MCP Apps, over the extension's wire and real calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.console.driving import Watched
from tests.console.hosting import Hosted
from tests.console.stored import Stored

pytestmark = pytest.mark.promise("MCP-8")


@pytest.fixture
def hosted(watched: Callable[..., Watched], stored: Stored) -> Hosted:
    return Hosted(watched(viewport={"width": 940, "height": 900}), stored.base)


def test_it_starts_as_the_extension_says_and_follows_the_host(hosted: Hosted) -> None:
    frame = hosted.frame
    expect(frame.locator(".row").first).to_be_visible()
    assert hosted.seen("methods")[:2] == ["ui/initialize", "ui/notifications/initialized"]
    started = hosted.page.evaluate("started")
    assert started["protocolVersion"] == "2026-01-26"
    assert {"name", "version"} <= set(started["appInfo"])
    assert started["appCapabilities"] == {"availableDisplayModes": ["inline", "fullscreen"]}
    size = hosted.seen("sizes")[-1]
    assert size["width"] <= 940
    assert 200 < size["height"] <= 700, "no more than the host has room for"

    root = frame.locator("html")
    surface = frame.locator(".top")
    assert root.get_attribute("data-theme") == "light", "another frame's word counts for nothing"
    expect(surface).to_have_css("background-color", "rgb(255, 255, 250)")
    hosted.send(method="ui/notifications/host-context-changed", params={"theme": "dark"})
    expect(root).to_have_attribute("data-theme", "dark")
    expect(surface).to_have_css("background-color", "rgb(10, 20, 30)")
    frame.get_by_role("button", name="Full screen").click()
    expect(frame.get_by_role("button", name="Smaller")).to_be_visible()
    assert frame.get_by_role("button", name="Sign out").count() == 0

    hosted.send(id=7, method="ping")
    hosted.send(id=8, method="ui/resource-teardown", params={})
    hosted.send(id=9, method="no/such/method")
    hosted.page.wait_for_function("seen.answers.length === 3")
    pinged, ended, unknown = hosted.seen("answers")
    assert pinged["result"] == ended["result"] == {}
    assert unknown["error"]["code"] == -32601


def test_a_curator_acts_and_undoes_through_the_host(hosted: Hosted, stored: Stored) -> None:
    frame = hosted.frame
    line = frame.locator(".row").filter(has=frame.get_by_role("button", name="Mobile app: offline mode", exact=True))
    if not line.count():
        frame.get_by_label("Find").fill("offline mode")
    line.get_by_role("checkbox").check()
    frame.locator("#bar").get_by_role("button", name="Archive").click()
    asked = frame.get_by_role("dialog", name="Archive “Mobile app: offline mode”?")
    asked.get_by_role("button", name="Archive").click()
    shown = frame.locator(".toast").filter(has_text="archived.")
    expect(shown).to_be_visible()
    assert stored.status("Mobile app: offline mode") == "archived"
    shown.get_by_role("button", name="Undo").click()
    expect(frame.locator(".toast").filter(has_text="Undone.")).to_be_visible()
    assert stored.status("Mobile app: offline mode") == "flagged"


def test_links_are_opened_by_the_host_and_a_tools_fault_is_told(hosted: Hosted, stored: Stored) -> None:
    frame = hosted.frame
    frame.locator(".row-title", has_text="Rate limits of the API").click()
    frame.locator(".address-line a").click()
    hosted.page.wait_for_function("seen.links.length === 1")
    assert hosted.seen("links") == ["https://docs.example.com/rate-limits-of-the-api"]
    frame.locator("#tab-recent").click()
    expect(frame.locator(".cards, .empty").first).to_be_visible()
    fault = hosted.page.frames[1].evaluate(
        "Harry.call('rollback_review', { action_id: 'act_none' }).catch((error) => error.message)"
    )
    assert "act_none" in fault
