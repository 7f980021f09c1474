"""AGT-3, AGT-4: what people may say of answers and ask at all, and the file that keeps it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.agent.answers import Answer, Outcome
from harry_mcp.agent.contract import Verdict
from harry_mcp.agent.noting import unread
from harry_mcp.agent.reporting_back import complaining, correcting, praising
from harry_mcp.agent.sources import Source
from harry_mcp.agent.transcripts import TranscriptFile
from harry_mcp.app import App
from harry_mcp.cli.answer_view import AnswerView
from harry_mcp.cli.console import ExitCode
from harry_mcp.domain.content import names_something
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.errors import InputError, ToolFailed
from harry_mcp.settings import Settings, child_environment
from tests.agent.chatting import own_server, said, talking
from tests.agent.test_local import WINE, harry
from tests.loop.small_base import QUESTION

pytestmark = [pytest.mark.promise("AGT-3"), pytest.mark.promise("AGT-4")]
FILE = SourceDocument(
    source="file:///docs/kettles.md",
    title="Kettles",
    language="en",
    text="# Kettles\n\nTo descale the kettle, boil it with vinegar and rinse it twice.",
)


@pytest.fixture
def answered() -> Answer:
    """An answer of two quotes."""
    return Answer(
        question=QUESTION, text="Press Rotate.", outcome=Outcome.ANSWERED, verdict=Verdict(), result_id="srch_1"
    )


async def test_what_cannot_be_said_of_an_answer_is_refused_with_a_sentence(base: Settings) -> None:
    async with talking(base) as talk:
        with pytest.raises(InputError, match="no answer yet to correct"):
            correcting(None, "One hour. => The old API key stops at once.")
        known = await talk.ask(QUESTION)
        for empty in ("x", "It is not.", "wrong => no", "42", "=> ", "5 => 10."):
            with pytest.raises(InputError, match=r"names nothing|Say what is true"):
                correcting(known, empty)
        unknown = await talk.ask(WINE)
        assert unknown.outcome is Outcome.NOT_KNOWN
        with pytest.raises(InputError, match="got no answer that could become an official one"):
            praising(unknown)
        # It can still be complained of, and said what is true.
        assert complaining(unknown, "incomplete").arguments["result_id"] == unknown.result_id
        told = correcting(unknown, "White wine goes with fish.").arguments
        assert told["wrong"] == f"It is not known: {WINE}"


def test_a_complaint_without_a_reason_is_told_which_there_are(answered: Answer) -> None:
    for missing, told in (
        ("", "^/down needs a reason first"),
        ("nonsense x", "“nonsense” is no reason"),
        ("1", "“1” is"),
    ):
        with pytest.raises(InputError, match=told) as caught:
            complaining(answered, missing)
        assert "wrong, outdated, incomplete, irrelevant, bad_source or other" in str(caught.value)
        assert "Nothing was sent" in str(caught.value)
    for given in ("other", "Wrong: at two"):
        assert complaining(answered, given).arguments["reason"] == given.split(":")[0].lower()


def test_each_caveat_names_the_sources_that_it_is_about(answered: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    flagged, old = "This document is flagged for review.", "It changed\nlong ago."
    of = [(1, (flagged,)), (2, ()), (4, (old, flagged))]
    sources = tuple(
        Source(number=number, kind="document", title="T", url=f"https://x.example/{number}", caveats=caveats)
        for number, caveats in of
    )
    AnswerView().finish(replace(answered, sources=sources))
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("Caveat")] == [
        "Caveat: [1], [4] This document is flagged for review.",
        "Caveat: [4] It changed long ago.",
    ]


async def test_what_is_praised_is_proposed_without_the_words_around_it(fresh: Settings) -> None:
    async with talking(fresh) as talk:
        quoted = await talk.ask(QUESTION)
        proposed = praising(quoted).arguments
        first = quoted.text.split("\n\n")[1].removeprefix("> ").split("\n")[0]
        assert proposed["answer"].startswith(first)
        assert proposed["source_urls"] == [quoted.sources[0].url]
        for around in ("[1]", "\n> ", quoted.sources[0].title + " >"):
            assert around not in proposed["answer"]
        await talk.session.outbox.send(correcting(quoted, "After rotation the old API key stops working at once."))
        headed = await talk.ask("How long does the old API key work after rotation?")
        assert headed.text.startswith("A correction that people made: ")
        assert praising(headed).arguments["answer"] == "After rotation the old API key stops working at once."
        assert praising(headed).arguments["source_urls"] == []
        thanked = await talk.ask("Thank you!")
        with pytest.raises(InputError, match="got no answer that could become"):
            praising(thanked)


async def test_a_models_answer_is_proposed_without_its_numbers(base: Settings) -> None:
    async with talking(base, said("Choose API keys, then press Rotate [1]. It is `done[1]` [1, 2].")) as talk:
        answer = await talk.ask(QUESTION)
    assert "[1]" in answer.text
    assert praising(answer).arguments["answer"] == "Choose API keys, then press Rotate. It is `done[1]`."
    assert praising(answer).arguments["source_urls"] == [source.url for source in answer.sources]


async def test_praise_of_what_is_to_be_taken_with_care_makes_no_candidate(fresh: Settings) -> None:
    # The bands move, not the scores: what the small base gives for this question is then moderate.
    bands = {"HARRY_RANK__STRONG": "0.999", "HARRY_RANK__MODERATE": "0.2"}
    async with talking(fresh, target=own_server(fresh, **bands)) as talk:
        careful = await talk.ask("How do I rotate an API key for my zeppelin?")
        assert careful.outcome is Outcome.WITH_CARE
        report = praising(careful)
        assert set(report.arguments) == {"result_id", "rating"}
        told = await talk.session.outbox.send(report)
    assert told == [
        "No answer was sent with it, so there is no candidate verified response.",
        "Your praise is noted. No candidate for an official answer is made of it, for the answer is to be taken with "
        "care.",
    ]


async def test_a_question_is_never_cut_in_silence(base: Settings) -> None:
    async with talking(base) as talk:
        with pytest.raises(ToolFailed, match=r"has 9,0\d\d characters; send at most 8,000\. Ask the question alone"):
            await talk.ask(f"{QUESTION} {'padding ' * 1200}"[:9020])
        assert talk.session.conversation.failed
        for nothing in ("", " ?!… ", "\x1b\u200b"):
            with pytest.raises(InputError, match="no words"):
                await talk.ask(nothing)
        long = f"{QUESTION} {' '.join(f'detail{number}' for number in range(200))}"
        noted = await talk.ask(long)
        assert any("the search read it only up to “… detail" in note for note in noted.notes), noted.notes
        plain = await talk.ask(f"Hello, could you please tell me: {QUESTION} Thanks a lot in advance!")
        assert not any("read it only" in note for note in plain.notes)


def test_only_a_question_that_was_cut_is_noted() -> None:
    words = [f"word{number}" for number in range(100)]
    question = " ".join(words)
    assert unread(question, question) == []
    assert unread(question, " ".join([*words[2:], "added", "by", "glossary"])) == []
    assert unread(question, "something else altogether that was rewritten from it") == []
    assert "word59" in unread(question, " ".join([*words[:60], "glossary"]))[0]


async def test_an_empty_knowledge_base_says_how_it_is_filled(app: App, settings: Settings) -> None:
    async with talking(settings) as talk:
        answer = await talk.ask(QUESTION)
    assert answer.outcome is Outcome.NOT_KNOWN
    assert "nothing has been ingested yet. `harry ingest FOLDER` brings documents in" in answer.text


async def test_a_file_can_be_blamed_though_it_has_no_address(app: App, fresh: Settings) -> None:
    await app.ingester.ingest([FILE])
    async with talking(fresh) as talk:
        answer = await talk.ask("How do I descale the kettle?")
        assert answer.sources[0].where == FILE.source
        told = await talk.session.outbox.send(complaining(answer, "wrong 1 vinegar ruins it"))
        assert any("“Kettles”" in line for line in told), told
        with pytest.raises(InputError, match=r"no source \[9\]"):
            complaining(answer, "wrong 9")


async def test_keys_that_move_the_cursor_are_no_part_of_a_question(base: Settings, tmp_path: Path) -> None:
    url, file = base.database_url.get_secret_value(), tmp_path / "talk.json"
    lines = ["\x1b[A", "\x1bOA\x1b[1;5C\x1b[3~", f"\x1b[A\x1b[200~{QUESTION}\x1b[201~\x1b[D", "\x1b[A/quit"]
    talked = await asyncio.to_thread(
        harry, "chat", "--transcript", str(file), given="\n".join(lines), HARRY_DATABASE_URL=url
    )
    assert talked.returncode == 0
    assert "harry: " not in talked.stdout
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert [each["question"] for each in kept["answers"]] == [QUESTION]


async def test_nothing_that_is_meant_for_agents_reaches_people(fresh: Settings) -> None:
    url = fresh.database_url.get_secret_value()
    lines = [QUESTION, "/correct The old API key stops at once after rotation.", "/up", WINE, "/down other no", "/up"]
    lines += [f"{QUESTION} {'x ' * 5000}", "/correct One thing. Also: Another thing. Besides, a third thing.", "/quit"]
    talked = await asyncio.to_thread(harry, "chat", given="\n".join(lines), HARRY_DATABASE_URL=url)
    assert talked.returncode == 0
    said = talked.stdout.lower()
    assert "stored; it counts from the next question on." in said
    for words in ("tell the user", "the user's", "status_reason", "call_web", "submit_", "answer_with_care", "review_"):
        assert words not in said + talked.stderr.lower(), words


async def test_a_lesson_that_names_nothing_is_refused_by_the_server_too(fresh: Settings) -> None:
    async with talking(fresh) as talk:
        answer = await talk.ask(QUESTION)
        line = talk.session.connection
        for empty in ("k", "It is so.", "600", "No."):
            given = {"wrong": "One hour.", "truth": "At once, the old API key stops.", "lesson": empty}
            with pytest.raises(ToolFailed, match=r"lesson names nothing that it is true of\. Write it as a sentence"):
                await line.call("submit_correction", given)
        assert (await talk.ask(QUESTION)).corrections == answer.corrections == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("The API limit is 600.", True),
        ("Nicht am Montag", True),
        ("旧密钥立即失效", True),
        ("Ключ сразу не работает", True),
        ("", False),
        ("a", False),
        ("12 34", False),
        ("It is what it is.", False),
        ("Yes!", False),
        ("It doesn't.", False),
        ("It doesn’t", False),
        ("No, they dont.", False),
        ("That's wrong.", False),
        ("You can't any longer.", False),
        ("It isn't in Solo.", True),
        ("It's free", True),
        ("It doesn't expire.", True),
        ("L'API change", True),
        ("The want is constant", True),
        ("… — !", False),
    ],
)
def test_a_text_says_something_when_a_word_names_something(text: str, says: bool) -> None:
    assert names_something(text) is says


def test_a_transcript_is_tried_out_before_anything_is_asked(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "behind.json")
    for wrong, advice in (
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "t.json", "Make it first"),
        (Path("/dev/null"), "no file"),
    ):
        with pytest.raises(InputError, match=advice):
            TranscriptFile(wrong)
    file = TranscriptFile(link)
    assert not link.exists(), "trying out leaves nothing"
    file.write({"answers": []})
    assert link.is_symlink()
    assert json.loads((tmp_path / "behind.json").read_text(encoding="utf-8")) == {"answers": []}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["behind.json", "link.json"]


async def test_a_transcript_that_fails_is_told_and_the_chat_goes_on(base: Settings, tmp_path: Path) -> None:
    url = base.database_url.get_secret_value()
    wrong = await asyncio.to_thread(harry, "chat", "--transcript", str(tmp_path / "no" / "t.json"), given=QUESTION)
    assert (wrong.returncode, wrong.stdout) == (ExitCode.USAGE, "")
    assert "there is no folder" in wrong.stderr
    folder = tmp_path / "kept"
    folder.mkdir()
    chat = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-m", "harry_mcp.cli.main", "chat", "--transcript", str(folder / "t.json"),
        env=child_environment(HARRY_DATABASE_URL=url, ANTHROPIC_API_KEY=""),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert chat.stdin is not None
    assert chat.stdout is not None

    async def heard(until: str) -> str:
        assert chat.stdout is not None
        text = ""
        while until not in text:
            line = await asyncio.wait_for(chat.stdout.readline(), 90)
            assert line, text
            text += line.decode()
        return text

    chat.stdin.write(b"/sources\n")
    await heard("no answer yet")
    folder.rename(tmp_path / "elsewhere")
    chat.stdin.write(f"{QUESTION}\n".encode())
    assert "press Rotate" in await heard("Sources")
    await heard("harry: The transcript cannot be written to")
    (tmp_path / "elsewhere").rename(folder)
    chat.stdin.write(b"/sources\n")
    rest, _ = await asyncio.wait_for(chat.communicate(b""), 90)
    assert chat.returncode == 0, rest
    kept: dict[str, Any] = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    assert [each["question"] for each in kept["answers"]] == [QUESTION]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
async def test_a_chat_at_a_terminal_tries_the_server_at_once(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    chat = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-m", "harry_mcp.cli.main", "chat", "--server", "http://127.0.0.1:1/mcp",
        env=child_environment(HARRY_DATA_DIR=str(tmp_path), ANTHROPIC_API_KEY=""),
        stdin=theirs, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs)
    assert chat.stdout is not None
    greeting = (await asyncio.wait_for(chat.stdout.readline(), 60)).decode()
    assert "Without a model, passages are quoted." in greeting
    told = (await asyncio.wait_for(chat.stdout.readline(), 60)).decode()
    assert "http://127.0.0.1:1/mcp cannot be used: nothing answers there (connection refused). Is it running?" in told
    os.write(ours, b"/quit\n")
    await asyncio.wait_for(chat.communicate(), 60)
    os.close(ours)
    assert chat.returncode == 0
