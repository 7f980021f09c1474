"""RET-2, AGT-3: the agent in conversation, over a real `harry serve`, on golden conversations about real pages.

The pages are those that some conversation needs, with every third of the others beside them, so that a run stays short.
The figures of the README are those of whole corpora, and of two more of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from harry_mcp.agent.answers import Outcome
from harry_mcp.app import App
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.settings import Settings
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.agent.chatting import own_server, talking
from tests.agent.conftest import filled_by
from tests.agent.conversing import HALVES, Asked, asked_by_agent, asked_by_host, figures, pages, rows

pytestmark = [pytest.mark.promise("RET-2"), pytest.mark.promise("AGT-3")]

_EVERY = 3


@pytest.fixture(scope="module", params=["plausible", "hubspot_agent_skills"])
def corpus(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def golden(
    corpus: str,
    shared_data: Path,
    postgres: EmbeddedPostgres,
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Settings]:
    wanted = {f"golden:{page}" for half in HALVES for row in rows(half, corpus) for page in row.relevant_ids}
    chosen = [
        page for place, page in enumerate(pages(shared_data, corpus)) if page.source in wanted or not place % _EVERY
    ]
    with filled_by(partial(_fill, chosen), postgres, template, tmp_path_factory.mktemp("golden")) as settings:
        yield settings


async def _fill(chosen: list[SourceDocument], settings: Settings) -> None:
    async with await App.open(settings) as app:
        await app.ingester.ingest(chosen)


async def test_golden_conversations_keep_their_figures(golden: Settings, corpus: str) -> None:
    """The floors under the figures of the README."""
    agent: list[Asked] = []
    host: list[Asked] = []
    async with talking(golden) as talk:
        for row in [row for half in HALVES for row in rows(half, corpus)]:
            agent.append(await asked_by_agent(talk.session, golden, row))
            host.append(await asked_by_host(talk.session, row))
    for asked in (agent, host):
        found = figures(asked)
        assert found.first >= 0.85, found
        assert found.third >= 0.95, found
        assert found.wrong_strong <= 1, found
        assert found.alone_changed == 0, found
        assert found.alone_first >= 0.6, found
        assert found.uncovered_strong == 0, found
        assert (found.no_question_strong, found.no_question_gaps) == (0, 0), found
        assert found.no_question


async def test_thanks_are_answered_in_a_sentence_and_rated_is_what_they_are_for(base: Settings) -> None:
    async with talking(base) as talk:
        first = await talk.ask("How do webhooks work?")
        thanks = await talk.ask("Thanks a lot!")
        assert (thanks.outcome, thanks.sources, thanks.gap_id) == (Outcome.REPLIED, (), "")
        assert thanks.text == talk.heard == "You are welcome. Ask on whenever you like."
        assert talk.tools == [("agent", "search_kb", True)]
        assert talk.session.last is first
        after = await talk.ask("And how long are they retried?")
        assert "retried for a day" in after.text
        sent = after.tools[0].arguments["history"]
        assert [turn.partition(":")[0] for turn in sent] == ["user", "assistant"]


async def test_what_is_sent_is_what_was_said_without_the_words_around_it(base: Settings) -> None:
    bands = {"HARRY_RANK__STRONG": "0.999", "HARRY_RANK__MODERATE": "0.2"}
    async with talking(base, target=own_server(base, **bands)) as talk:
        with_care = await talk.ask("How do I rotate an API key for my zeppelin?")
        assert with_care.outcome is Outcome.WITH_CARE
        unknown = await talk.ask("Which wine goes with fish?")
        assert unknown.outcome is Outcome.NOT_KNOWN
        last = await talk.ask("How do exports arrive?")
    sent = last.tools[0].arguments["history"]
    assert sent[0] == "user: How do I rotate an API key for my zeppelin?"
    assert sent[1].startswith("assistant: API keys. Open Settings, choose API keys, and press Rotate")
    assert sent[2:] == ["user: Which wine goes with fish?"], "that nothing is known says nothing"
    for ours in ("with care", "only in part", "do not speak of", "I do not know", "[1]", ">"):
        assert ours not in " ".join(sent)
