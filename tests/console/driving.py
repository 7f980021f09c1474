"""What a curator does with the page, and what is watched meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from playwright.sync_api import ConsoleMessage, Dialog, Locator, Page, expect

from tests.console.served import TOKEN

T = TypeVar("T")
TABS = ("pending", "flagged", "archived", "recent", "gaps", "corrections", "verified", "digest")

# What the browser logs by itself: a refused sign-in is an answer of 401, and some tests cut the line.
_LOGGED = ("status of 401", "ERR_INTERNET_DISCONNECTED")


def apart(work: Coroutine[Any, Any, T]) -> T:
    """Run something asynchronous in a thread: playwright keeps this one's event loop running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


class Watched:
    """A page, and all that went wrong in it: dialogs that a document opened, errors, breaches of the policy."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", self._console)

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        expected = any(each in message.text for each in _LOGGED)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(f"console: {message.text}")

    def sign_in(self, base: str, tab: str = "") -> Page:
        self.page.goto(f"{base}/admin#token={TOKEN}")
        expect(self.page.get_by_role("tablist")).to_be_visible()
        settled(self.page)
        if tab:
            go_to(self.page, tab)
        return self.page


def settled(page: Page) -> None:
    """Wait until what is on the screen is loaded."""
    page.wait_for_function("() => !document.querySelector('.ghosts, .loading-line, #panel [aria-busy=true]')")


def go_to(page: Page, tab: str) -> None:
    page.locator(f"#tab-{tab}").click()
    settled(page)


def row(page: Page, title: str) -> Locator:
    return page.locator(".row").filter(has=page.get_by_role("button", name=title, exact=True))


def titles(page: Page) -> list[str]:
    return page.locator(".row-title").all_inner_texts()


def count(page: Page, tab: str) -> str:
    return page.locator(f"#count-{tab}").inner_text()


def toast(page: Page, words: str) -> Locator:
    shown = page.locator(".toast").filter(has_text=words).first
    expect(shown).to_be_visible()
    return shown


def dialog(page: Page, name: str) -> Locator:
    shown = page.get_by_role("dialog", name=name)
    expect(shown).to_be_visible()
    return shown


def no_sideways_scrolling(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "it scrolls sideways"
