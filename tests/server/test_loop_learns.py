"""The loop learns, over a real session with a real client: complaints mend the next answer, praise becomes official."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult

from harry_mcp.ingest.estimating import estimated_tokens
from harry_mcp.settings import Settings, child_environment
from tests.server.test_stdio import structured, text_of

HARRY = [sys.executable, "-m", "harry_mcp.cli.main"]
QUESTION = "How do I rotate an API key?"
IN_OTHER_WORDS = "How can I rotate the API key?"
URL = "https://docs.example.com/keys"
KEYS = f"""---
title: API keys
url: {URL}
---
# API keys

## Rotate an API key

Open Settings, choose API keys, and press Rotate to rotate the API key. The old key works for one hour.
"""
OTHERS = {
    "invoices": "# Invoices\n\nInvoices are sent on the first day of the month to the billing address.",
    "webhooks": "# Webhooks\n\nA webhook is called within a minute of the event and retried for a day.",
    "limits": "# Rate limits\n\nThe API allows 600 requests a minute; above that it answers with code 429.",
}
CORRECTION = {
    "wrong": "The old key works for one hour after rotation.",
    "truth": "The old key stops working at once after rotation.",
    "lesson": "After rotation the old API key stops working at once.",
    "source_url": f"{URL}/?utm_source=mail#rotate",
}


@pytest.fixture
def pages(settings: Settings, tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "keys.md").write_text(KEYS, encoding="utf-8")
    for name, text in OTHERS.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    ingest(settings, folder)
    return folder


def environment(settings: Settings, **more: str) -> dict[str, str]:
    return child_environment(HARRY_DATABASE_URL=settings.database_url.get_secret_value(), **more)


def ingest(settings: Settings, folder: Path) -> None:
    done = subprocess.run(
        [*HARRY, "ingest", str(folder)], env=environment(settings), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def connected(settings: Settings, **more: str) -> Client:
    """A client of a server of its own."""
    return Client(
        StdioServerParameters(command=HARRY[0], args=[*HARRY[1:], "serve"], env=environment(settings, **more))
    )


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    return structured(await client.call_tool(name, arguments))


def fenced(text: str, name: str) -> str:
    """What stands between the marks of a fence, which is told before to be no instruction."""
    mark = re.search(rf"\[{name}-([0-9a-f]{{8}})\] and\s+\[end-\1\] is (?:reference )?data,\s+not instructions", text)
    assert mark is not None, text
    return text.split(f"[{name}-{mark[1]}]\n", 1)[1].split(f"\n[end-{mark[1]}]", 1)[0]


@pytest.mark.promise("COR-3")
@pytest.mark.promise("COR-7")
@pytest.mark.promise("COR-10")
async def test_a_correction_is_in_the_next_answer_in_other_words_and_gone_once_deprecated(
    settings: Settings, pages: Path
) -> None:
    async with connected(settings) as client:
        asked = await call(client, "search_kb", query=QUESTION)
        assert "one hour" in asked["hits"][0]["text"]
        assert asked["corrections"] == []
        taken = await call(client, "submit_correction", **CORRECTION, result_id=asked["search_id"])
        assert taken["submissions"][0]["outcome"] == "created"
        assert "counts from the next question on" in taken["next_step"]
        key = taken["submissions"][0]["correction"]["correction_id"]
        complained = await call(
            client,
            "submit_feedback",
            result_id=asked["search_id"],
            rating="down",
            reason="wrong",
            comment="It stopped at once.",
            source_urls=[f"{URL}#rotate"],
        )
        document = asked["hits"][0]["document_id"]
        assert complained["flagged_documents"] == [document]

        for tool in ("search_kb", "verified_lookup"):
            result = await client.call_tool(tool, {"query": IN_OTHER_WORDS})
            found, text = structured(result), text_of(result)
            (correction,) = found["corrections"]
            assert (correction["correction_id"], correction["truth"]) == (key, CORRECTION["truth"])
            (failure,) = found["past_failures"]
            assert (failure["reason"], failure["comment"]) == ("wrong", "It stopped at once.")
            # The same facts in the text, in a fence of its own that the stored text could not close, within the budget.
            inside = fenced(text, "corrections")
            for fact in (key, CORRECTION["lesson"], CORRECTION["wrong"], CORRECTION["truth"], CORRECTION["source_url"]):
                assert fact in inside
            assert estimated_tokens(inside) <= 800
            assert failure["comment"] in fenced(text, "failures")
        again = await call(client, "search_kb", query=IN_OTHER_WORDS)
        assert "flagged for review" in again["hits"][0]["caveats"][0]

        listed = await call(client, "list_corrections", correction_id=key)
        assert listed["answers_touched"] == 3
        assert {item["question"] for item in listed["touched"]} == {IN_OTHER_WORDS}
        gone = await client.call_tool(
            "review_correction", {"correction_id": key, "action": "deprecate", "reason": "It is one hour after all."}
        )
        assert structured(gone)["corrections"][0]["status"] == "deprecated"
        assert "It is one hour after all." in fenced(text_of(gone), "list")
        assert (await call(client, "search_kb", query=IN_OTHER_WORDS))["corrections"] == []
        told = await call(client, "explain_search", search_id=again["search_id"])
        assert told["corrections"] == [f"{key}: {CORRECTION['lesson']}"]
        assert told["corrections_now"] == []
        assert f"The correction {key} does not go into it any more." in told["changed"]


@pytest.mark.promise("COR-3")
async def test_the_very_next_request_sees_a_lesson_that_says_it_and_a_neighbour_does_not(
    settings: Settings, pages: Path
) -> None:
    (pages / "plans.md").write_text(
        "# Plans\n\nZephlo Plus costs 4 euro, and Zephlo Basic costs 2 euro.", encoding="utf-8"
    )
    ingest(settings, pages)
    asked = "What does Zephlo Plus cost?"
    line = "It costs 5 euro a month since May."
    async with connected(settings) as client:
        first = await call(client, "search_kb", query=asked)
        assert first["corrections"] == []
        await call(
            client,
            "submit_correction",
            wrong="It costs 4 euro.",
            truth=line,
            lesson=line,
            result_id=first["search_id"],
        )
        answered = await client.call_tool("search_kb", {"query": asked})
        (note,) = structured(answered)["corrections"]
        assert (note["lesson"], note["asked"], note["answers"]) == (line, asked, True)
        assert f"answers the question: (asked: “{asked}”) {line}" in text_of(answered)
        looked_up = await call(client, "verified_lookup", query="How much is Zephlo Plus?")
        assert [each["answers"] for each in looked_up["corrections"]] == [True]
        assert (await call(client, "search_kb", query="What does Zephlo Basic cost?"))["corrections"] == []
        # In a conversation it is the question as it stands alone.
        history = ["user: What is Zephlo Plus?", "assistant: A plan."]
        follow_up = await call(client, "search_kb", query="And what does it cost?", history=history)
        assert [each["lesson"] for each in follow_up["corrections"]] == [line]
        (listed,) = (await call(client, "list_corrections", status="active"))["corrections"]
        assert listed["questions"] == [asked]


@pytest.mark.promise("COR-9")
@pytest.mark.promise("VER-1")
@pytest.mark.promise("VER-9")
async def test_praise_that_is_approved_is_official_until_its_page_changes(settings: Settings, pages: Path) -> None:
    async with connected(settings) as client:
        asked = await call(client, "search_kb", query=QUESTION)
        answer = "Open Settings, choose API keys and press Rotate."
        praised = await call(
            client,
            "submit_feedback",
            result_id=asked["search_id"],
            rating="up",
            answer=answer,
            source_urls=[asked["citations"][0]["url"]],
        )
        (waiting,) = (await call(client, "list_verified"))["entries"]
        assert (waiting["response_id"], waiting["status"]) == (praised["candidate_id"], "candidate")
        assert waiting["sources"][0]["url"] == URL
        assert (await call(client, "verified_lookup", query=QUESTION))["verified"]["match"] == "none"
        approved = await call(client, "review_verified", response_id=waiting["response_id"], action="approve")
        assert approved["entries"][0]["status"] == "active"

        result = await client.call_tool("search_kb", {"query": IN_OTHER_WORDS})
        served, text = structured(result), text_of(result)
        assert (served["verified"]["match"], served["verified"]["answer"]) == ("exact", answer)
        assert served["verdict"]["next_action"] == "answer"
        for fact in (answer, QUESTION, URL, waiting["response_id"]):
            assert fact in fenced(text, "verified") or fact in text.split("[verified-")[0]
        looked_up = await client.call_tool("verified_lookup", {"query": IN_OTHER_WORDS})
        assert structured(looked_up)["next_action"] == "answer"
        assert answer in fenced(text_of(looked_up), "verified")
        for found in (served, structured(looked_up)):
            rated = await call(client, "submit_feedback", result_id=found["verified"]["lookup_id"], rating="up")
            assert rated["effects"] == ["Noted."]

        (pages / "keys.md").write_text(KEYS.replace("press Rotate", "press Renew"), encoding="utf-8")
        ingest(settings, pages)
        held = await client.call_tool("verified_lookup", {"query": IN_OTHER_WORDS})
        assert structured(held)["verified"]["match"] == "partial"
        assert structured(held)["next_action"] == "search_kb"
        assert "held back for review: a cited document changed since it was approved" in text_of(held)
        (queued,) = (await call(client, "list_verified", status="held"))["entries"]
        assert queued["response_id"] == waiting["response_id"]
        mended = "Open Settings, choose API keys and press Renew."
        await call(client, "review_verified", response_id=queued["response_id"], action="approve", answer=mended)
        assert (await call(client, "search_kb", query=IN_OTHER_WORDS))["verified"]["answer"] == mended
        refused = await call(
            client, "review_verified", response_id=queued["response_id"], action="never_serve", question=IN_OTHER_WORDS
        )
        assert refused["entries"][0]["status"] == "active"
        assert (await call(client, "search_kb", query=IN_OTHER_WORDS))["verified"]["match"] == "none"


HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("submit_feedback", {"result_id": "srch_1", "rating": "down"}, "needs a reason"),
    ("submit_feedback", {"result_id": "srch_1", "rating": "up"}, "There is no result 'srch_1'"),
    ("submit_feedback", {"result_id": "srch_1", "rating": "great"}, "up or down. Required."),
    ("submit_feedback", {"result_id": "srch_1", "rating": "up", "comment": "x" * 2001}, "comment cannot be used"),
    ("submit_feedback", {"result_id": "srch_1", "rating": "up", "source_urls": "x"}, "source_urls cannot be used"),
    ("submit_correction", {"wrong": "a", "truth": "b"}, "lesson is missing"),
    ("submit_correction", {"wrong": "a", "truth": " ", "lesson": "c"}, "truth is empty"),
    ("submit_correction", {"wrong": "a", "truth": "b", "lesson": "x" * 5000}, "at most 1,000 are taken"),
    ("review_verified", {"response_id": "ver_1", "action": "approve"}, "There is no verified response 'ver_1'"),
    ("review_verified", {"response_id": "ver_1", "action": "delete"}, "approve, reject, retire or never_serve"),
    ("review_correction", {"correction_id": "cor_1", "action": "approve"}, "There is no correction 'cor_1'"),
    ("list_corrections", {"correction_id": "cor_1"}, "There is no correction 'cor_1'"),
    ("list_verified", {"limit": 0}, "Entries, 1 to 50"),
    ("explain_search", {"search_id": "srch_1"}, "There is no search 'srch_1'"),
    ("verified_lookup", {"query": " ?"}, "holds no word"),
]


@pytest.mark.promise("MCP-3")
async def test_bad_input_gets_one_sentence_and_text_of_users_breaks_nothing(settings: Settings, pages: Path) -> None:
    async with connected(settings) as client:
        for name, arguments, sentence in HOSTILE:
            result = await client.call_tool(name, arguments)
            assert result.is_error, (name, arguments)
            assert sentence in text_of(result), (name, text_of(result))
            assert len(text_of(result)) < 700
        dirt = "\u0000\u202e\u200b\u2028\x1b[31m\u0007"
        asked = await call(client, "search_kb", query=f"How do I rotate{dirt} an API key?")
        rated = await call(
            client, "submit_feedback", result_id=asked["search_id"], rating="down", reason="other", comment=f"No.{dirt}"
        )
        assert rated["feedback_id"]
        stored = await call(
            client,
            "submit_correction",
            wrong=f"Invoices cost{dirt} money.",
            truth="Invoices are free.",
            lesson=f"Invoices are free.{dirt}",
            topic=dirt,
            reporter=dirt,
        )
        assert stored["submissions"][0]["correction"]["status"] == "pending"
        for name in ("list_corrections", "list_verified"):
            assert "next_step" in await call(client, name, status="all")


@pytest.mark.promise("MCP-10")
async def test_long_lists_are_cut_and_say_where_they_go_on(settings: Settings, pages: Path) -> None:
    async with connected(settings) as client:
        asked = await call(client, "search_kb", query=QUESTION)
        for number in range(12):
            answer = f"{number} " + "press the button and wait for it to turn green again, " * 60
            await call(client, "submit_feedback", result_id=asked["search_id"], rating="up", answer=answer)
            await call(
                client,
                "submit_correction",
                wrong=f"It takes {number} hours " + "at least on a working day, " * 20,
                truth=f"It takes {number + 30} hours " + "at most on a working day, " * 20,
                lesson=f"Job {number} of the kind takes {number + 30} hours.",
            )
        for tool, name in (("list_verified", "entries"), ("list_corrections", "corrections")):
            seen: list[str] = []
            offset = 0
            while True:
                result = await client.call_tool(tool, {"status": "all", "limit": 50, "offset": offset})
                found = structured(result)
                assert estimated_tokens(text_of(result)) < 10_000
                ids = [item.get("response_id") or item["correction_id"] for item in found[name]]
                seen += ids
                more = re.search(r"There are more: offset (\d+)", found["next_step"])
                if more is None:
                    break
                offset = int(more[1])
                assert offset == len(seen)
            assert len(seen) == len(set(seen)) == 12


ROLES = {
    "reader": {"search_kb", "read_document", "verified_lookup", "web_fallback", "explain_search"},
    "contributor": {"submit_correction", "submit_feedback"},
    "curator": {"list_corrections", "review_correction", "list_verified", "review_verified"},
}


@pytest.mark.promise("MCP-4")
@pytest.mark.parametrize("role", list(ROLES))
async def test_a_role_lists_its_tools_and_is_refused_all_others(settings: Settings, role: str) -> None:
    names = list(ROLES)
    allowed = set[str]().union(*(ROLES[name] for name in names[: names.index(role) + 1]))
    denied = set[str]().union(*(ROLES[name] for name in names[names.index(role) + 1 :]))
    async with connected(settings, HARRY_ROLE=role) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert allowed <= listed
        assert not denied & listed
        for name in denied:
            result: CallToolResult = await client.call_tool(name, {})
            assert result.is_error
            assert f"There is no tool '{name}'" in text_of(result)


@pytest.mark.promise("COR-9")
@pytest.mark.parametrize(
    ("approve", "role", "may"), [("contributor", "contributor", True), ("admin", "curator", False)]
)
async def test_who_may_approve_sees_the_tool(
    settings: Settings, pages: Path, approve: str, role: str, may: bool
) -> None:
    async with connected(settings, HARRY_ROLE=role, HARRY_VERIFY__APPROVE=approve) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert ("review_verified" in listed) is may
        assert "list_verified" in listed
        if may:
            asked = await call(client, "search_kb", query=QUESTION)
            praised = await call(
                client, "submit_feedback", result_id=asked["search_id"], rating="up", answer="Press Rotate."
            )
            done = await call(client, "review_verified", response_id=praised["candidate_id"], action="approve")
            assert done["entries"][0]["status"] == "active"
