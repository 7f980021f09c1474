"""CUR-9: what the digest counts, and the words and the picture it is put into."""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import date, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from psycopg import AsyncConnection

from harry_mcp.domain.digest import Activity, DayOfSearches, Digest, Waiting
from harry_mcp.domain.notifications import Notification
from harry_mcp.server.render_digest import digest_reply, digest_text
from harry_mcp.settings import DigestSection
from harry_mcp.stages.curate.digest import blocks, change_in_words, gather, headline, next_step
from harry_mcp.stages.curate.digest_chart import HEIGHT, SCALE, WIDTH, chart
from harry_mcp.stages.curate.digest_mail import compose
from harry_mcp.storage.database import Database
from tests.jobs.week import BREAKING, HOSTILE, UNTIL, fill

pytestmark = pytest.mark.promise("CUR-9")


class Elements(HTMLParser):
    """The elements and attributes of a page, and its visible text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: list[str] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def empty(**changed: Any) -> Digest:
    days = [DayOfSearches(date(2026, 3, 7) + timedelta(days=n), 0, 0) for n in range(14)]
    digest = Digest(
        until=UNTIL,
        events=(),
        last_events=(),
        activity=Activity(),
        days=days,
        gaps=(),
        most_flagged=(),
        flagged_days=14,
        feedback=(),
        waiting=Waiting(),
    )
    return replace(digest, **changed)


@pytest.fixture
async def digest(database: Database, connection: AsyncConnection[Any]) -> Digest:
    await fill(connection)
    async with database.reading() as unit:
        return await gather(unit, DigestSection(), until=UNTIL)


async def test_everything_is_counted_back_from_one_moment(digest: Digest) -> None:
    events = {(each.event, each.signal): (each.number, each.documents) for each in digest.events}
    assert events == {
        ("flag", "dead_source"): (1, 1),
        ("flag", "negative_feedback"): (1, 1),
        ("flag", "contradiction"): (1, 1),
        ("draft", ""): (1, 1),
    }
    assert (digest.last_events[0].event, digest.last_events[0].document_id) == ("draft", "doc_2")
    week, before = digest.this_week, digest.week_before
    assert (week.searches, week.weak, before.searches, before.weak) == (159, 45, 137, 13)
    assert digest.change == pytest.approx(45 / 159 - 13 / 137)
    assert [day.day for day in digest.days] == [date(2026, 3, 7) + timedelta(days=n) for n in range(14)]
    assert [(gap.gap_id, gap.asked, gap.best_score) for gap in digest.gaps] == [("gap_1", 3, 0.31), ("gap_2", 2, 0.31)]
    assert [(each.document_id, each.flags, each.signals) for each in digest.most_flagged] == [
        ("doc_0", 3, ["dead_source", "negative_feedback", "stale"]),
        ("doc_1", 1, ["contradiction"]),
    ]
    assert digest.waiting == Waiting(1, 2, 1, 1, 1)
    assert (digest.verdicts("up"), digest.verdicts("down")) == (2, 2)


async def test_what_comes_after_the_moment_and_long_before_does_not_count(
    database: Database, connection: AsyncConnection[Any]
) -> None:
    await fill(connection, until=UNTIL)
    async with database.reading() as unit:
        earlier = await gather(unit, DigestSection(), until=UNTIL - timedelta(days=2))
        later = await gather(unit, DigestSection(), until=UNTIL + timedelta(days=30))
    assert earlier.this_week.searches == sum(
        n for n, _ in [(28, 0), (26, 0), (22, 0), (27, 0), (9, 0), (7, 0), (30, 0)]
    )
    assert (later.this_week.searches, later.events, later.gaps, later.most_flagged) == (0, [], [], [])
    assert later.waiting == Waiting(1, 2, 1, 1, 1), "what waits is counted now"


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        ((100, 30), (100, 20), "up 10 points from the week before"),
        ((100, 20), (100, 21), "down 1 point from the week before"),
        ((1000, 200), (1000, 201), "as in the week before"),
        ((0, 0), (10, 1), "nothing to compare with"),
        ((10, 1), (0, 0), "nothing to compare with"),
    ],
)
def test_the_change_is_put_into_words(now: tuple[int, int], before: tuple[int, int], words: str) -> None:
    quiet = [DayOfSearches(UNTIL.date(), 0, 0)] * 6
    digest = empty(days=[*quiet, DayOfSearches(UNTIL.date(), *before), *quiet, DayOfSearches(UNTIL.date(), *now)])
    assert change_in_words(digest) == words


def test_a_day_without_anything_is_told_as_such() -> None:
    digest = empty()
    assert headline(digest) == "0 waiting, 0 new flags, no searches in 7 days"
    assert next_step(digest) == "Nothing waits."
    assert all(block.rows or block.empty for block in blocks(digest))
    reply = digest_reply(digest)
    assert (reply.escalation.rate, reply.escalation.comparable, reply.escalation.change) == (-1, False, 0)
    mail = compose(digest, key="k", subject="")
    assert "No searches in 14 days" not in mail.html, "that is said in the picture, and in words above it"
    assert mail.text.count("Nothing waits.") == 1


@pytest.mark.promise("OPS-1")
async def test_stored_text_is_harmless_in_every_form(digest: Digest) -> None:
    mail = compose(digest, key="k", subject=f"HubSpot\r\nBcc: eve@example.com {HOSTILE}")
    seen = Elements(mail.html)
    assert not seen.names & {"script", "a", "iframe", "form", "link", "style"}
    assert not {name for name in seen.attributes if name.startswith("on")}
    assert seen.sources == ["cid:chart"]
    words = "".join(seen.words)
    assert HOSTILE in words, "shown as what it is"
    assert "請求書" in words
    assert not {"\u202e", "\r"} & set(words + mail.text)
    assert "Keys Bcc: eve@example.com <script>alert(2)</script>gnp.exe" in " ".join(mail.text.split())
    for line in mail.text.splitlines():
        assert not line.startswith("Bcc:")
    assert "\n" not in mail.subject
    assert HOSTILE not in mail.subject.removeprefix(f"HubSpot Bcc: eve@example.com {HOSTILE}"[:60])
    text = digest_text(digest)
    fence = text.split("[end-")[1].split("]")[0]
    assert text.endswith(f"[end-{fence}]")
    assert text.count(fence) == 4
    assert digest_reply(digest).most_flagged[1].title == BREAKING


async def test_the_picture_is_a_small_png_of_the_size_that_the_mail_names(digest: Digest) -> None:
    for drawn in (chart(digest), chart(empty())):
        assert drawn.startswith(b"\x89PNG")
        assert struct.unpack(">II", drawn[16:24]) == (WIDTH * SCALE, HEIGHT * SCALE)
        assert len(drawn) < 60_000
    mail: Notification = compose(digest, key="k", subject="HubSpot")
    assert f'width="{WIDTH}" height="{HEIGHT}" alt="Searches by day. This week 45 of 159' in mail.html
    assert len(mail.html) < 100_000, "Gmail cuts longer ones off"
    assert max(map(len, mail.html.split("\n"))) > 998, "so it must not be sent as it is"


@pytest.mark.parametrize(
    ("searches", "weak", "said"),
    [
        (0, 0, "Nothing was asked in the last 7 days."),
        (3, 0, "Every question of the last 7 days was answered."),
        (3, 1, "No gap was opened. The filters of 1 weak search left nothing to search."),
        (3, 2, "No gap was opened. The filters of 2 weak searches left nothing to search."),
    ],
)
def test_without_gaps_it_says_what_that_means(searches: int, weak: int, said: str) -> None:
    digest = empty()
    digest = replace(digest, days=[*digest.days[:-1], replace(digest.days[-1], searches=searches, weak=weak)])
    assert said in [block.empty for block in blocks(digest)]
    assert said in digest_text(digest)
    assert said in compose(digest, key="k", subject="").text
