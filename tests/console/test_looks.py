"""Light, dark, and 360 pixels wide: everything can be read, and nothing scrolls sideways."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.console.driving import TABS, Watched, go_to, no_sideways_scrolling, row, settled
from tests.console.stored import Stored

pytestmark = pytest.mark.promise("MCP-8")
LIGHT, DARK = (246, 246, 244), (19, 21, 24)

# The contrast of every piece of text with what lies behind it, as WCAG counts it; the lowest with its words.
LOWEST = """() => {
  const parts = (color) => {
    const numbers = color.match(/[\\d.]+/g).map(Number);
    const scale = color.startsWith("color(") ? 255 : 1;
    return [...numbers.slice(0, 3).map((each) => each * scale), numbers.length > 3 ? numbers[3] : 1];
  };
  const light = ([r, g, b]) => {
    const linear = (each) => (each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r, g, b].map((each) => linear(each / 255));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const color = parts(getComputedStyle(node).backgroundColor);
      if (color[3] > 0.99) return color;
    }
    return [255, 255, 255, 1];
  };
  let lowest = [99, ""];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
    if (node.closest("svg, script, style, .unseen, :disabled")) continue;
    const [one, other] = [light(parts(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, walker.currentNode.data.trim()];
  }
  return lowest;
}"""


@pytest.mark.parametrize(("scheme", "paper"), [("light", LIGHT), ("dark", DARK)])
def test_both_colour_schemes_can_be_read(
    watched: Callable[..., Watched], stored: Stored, scheme: str, paper: tuple[int, int, int]
) -> None:
    page = watched(color_scheme=scheme, viewport={"width": 1280, "height": 860}).sign_in(stored.base)
    found = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert found == "rgb({}, {}, {})".format(*paper)
    for tab in TABS:
        go_to(page, tab)
        ratio, words = page.evaluate(LOWEST)
        assert ratio >= 4.5, (tab, words, ratio)


def test_nothing_scrolls_sideways_on_a_narrow_screen(watched: Callable[..., Watched], stored: Stored) -> None:
    page = watched(viewport={"width": 360, "height": 740}, has_touch=True).sign_in(stored.base)
    for tab in TABS:
        go_to(page, tab)
        no_sideways_scrolling(page)
    go_to(page, "flagged")
    row(page, "Rate limits of the API").locator(".row-title").click()
    settled(page)
    expect(page.locator(".list")).to_be_hidden()
    no_sideways_scrolling(page)
    page.get_by_role("button", name="Rewrite").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    no_sideways_scrolling(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Back to the list").click()
    page.locator(".row input").first.check()
    expect(page.locator("#bar")).to_be_in_viewport(ratio=1)
    no_sideways_scrolling(page)


def test_nothing_moves_for_those_who_want_it_so(watched: Callable[..., Watched], stored: Stored) -> None:
    page = watched(reduced_motion="reduce").sign_in(stored.base)
    page.evaluate("Harry.toast('A message')")
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.toast')).animationDuration)") < 0.001
