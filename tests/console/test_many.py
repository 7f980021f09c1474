"""10,000 flagged documents: the first page is there soon, and every other one can be reached."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

import pytest
from playwright.sync_api import expect
from psycopg import connect

from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.console.conftest import database, server_over
from tests.console.driving import Watched, count, go_to, settled, titles
from tests.console.stored import Stored

pytestmark = [pytest.mark.promise("MCP-8"), pytest.mark.promise("CUR-12")]
MANY = 10_000
# Generous: two slow cores, shared with other tests.
PATIENCE = 5.0


@pytest.fixture(scope="module")
def many(postgres: EmbeddedPostgres, template: str, tmp_path_factory: pytest.TempPathFactory) -> Generator[Stored]:
    folder = tmp_path_factory.mktemp("many")
    with database(postgres, template) as url:
        with connect(url, autocommit=True, options="-c search_path=harry,public") as connection:
            connection.execute(
                b"INSERT INTO documents (id, source, title, url, status, content, content_hash, recipe, updated_at)"
                b" SELECT 'doc_' || n, 'test:' || n, 'Page ' || n, 'https://docs.example.com/' || n, 'flagged', 'x',"
                b" 'h', 'r', now() - make_interval(days => n %% 700) FROM generate_series(1, %s) AS n",
                [MANY],
            )
            connection.execute(
                b"INSERT INTO kb_curation_log (document_id, event, signal, actor, detail)"
                b" SELECT 'doc_' || n, 'flag', CASE n %% 3 WHEN 0 THEN 'stale' WHEN 1 THEN 'dead_source' ELSE"
                b" 'negative_feedback' END, 'test', '{}' FROM generate_series(1, %s) AS n",
                [MANY],
            )
            connection.execute(b"ANALYZE")
        with server_over(url, folder) as server:
            yield Stored(server.base, url)


def test_all_of_them_can_be_reached_and_none_is_waited_for(watched: Callable[..., Watched], many: Stored) -> None:
    page = watched(viewport={"width": 1280, "height": 860}).sign_in(many.base)
    assert count(page, "flagged") == "10k"
    begun = time.perf_counter()
    page.reload()
    expect(page.locator(".row")).to_have_count(25)
    assert time.perf_counter() - begun < PATIENCE
    pager = page.locator(".pager")
    expect(pager).to_contain_text("1–25 of 10,000")
    first = titles(page)

    begun = time.perf_counter()
    pager.get_by_role("button", name="Next").click()
    expect(pager).to_contain_text("26–50 of 10,000")
    assert time.perf_counter() - begun < PATIENCE
    assert not set(titles(page)) & set(first)
    pager.get_by_label("Page, 1 to 400").fill("400")
    page.keyboard.press("Enter")
    expect(pager).to_contain_text("9,976–10,000 of 10,000")
    expect(pager.get_by_role("button", name="Next")).to_be_disabled()
    page.keyboard.press("p")
    expect(pager).to_contain_text("9,951–9,975 of 10,000")

    page.get_by_label("Signal").select_option("stale")
    settled(page)
    expect(pager).to_contain_text("of 3,333")
    page.get_by_label("Find").fill("page 99")
    expect(pager).to_contain_text("1–25 of 39")
    assert all("Page 99" in title for title in titles(page))
    go_to(page, "pending")
    expect(page.locator(".list .empty")).to_contain_text("No drafts wait")


def test_a_selection_outlives_paging_and_too_many_are_refused_in_a_sentence(
    watched: Callable[..., Watched], many: Stored
) -> None:
    page = watched(viewport={"width": 1280, "height": 860}).sign_in(many.base)
    for number in range(1, 6):
        page.get_by_label("Select all on this page").check()
        expect(page.locator("#bar")).to_contain_text(f"{25 * number} selected")
        page.keyboard.press("n")
        expect(page.locator(".pager")).to_contain_text(f"{25 * number + 1}–")
    page.locator("#bar").get_by_role("button", name="Keep flagged").click()
    expect(page.locator(".toast.bad")).to_contain_text("125 documents are named, and at most 100 are taken at a time.")
    expect(page.locator("#bar")).to_contain_text("125 selected")
