"""RUN-6, CUR-6: the review queue as commands."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harry_mcp.app import App
from harry_mcp.cli.console import ExitCode
from harry_mcp.domain.documents import DocumentStatus
from harry_mcp.server.catalogue import TOOLS
from harry_mcp.settings import Settings
from tests.cli.test_commands import Done, harry
from tests.curate.test_review import flag, ingest, status

pytestmark = [pytest.mark.promise("RUN-6"), pytest.mark.promise("CUR-6")]
S = DocumentStatus


async def run(settings: Settings, *arguments: str, **environment: str) -> Done:
    url = settings.database_url.get_secret_value()
    return await asyncio.to_thread(harry, "curate", *arguments, HARRY_DATABASE_URL=url, **environment)


async def test_a_queue_is_worked_through(settings: Settings, app: App, tmp_path: Path) -> None:
    keys, invoices, webhooks = await ingest(app)
    await flag(app, keys)
    shown = await run(settings, "list")
    assert shown.code == 0
    assert "0 pending, 1 flagged, 0 archived" in shown.out
    assert f"{keys}  Keys  flagged" in shown.out
    assert "negative_feedback" in shown.out
    new = tmp_path / "new.md"
    new.write_text("Rotate an API key on the keys page.", encoding="utf-8")
    rewritten = (await run(settings, "rewrite", keys, "--file", str(new), "--json")).json
    assert (rewritten["outcome"], rewritten["changes"][0]["after"]) == ("done", "flagged")
    one = (await run(settings, "list", "--document", keys, "--json")).json
    assert one["dossier"][0]["text"] == "Rotate an API key on the keys page."
    assert one["dossier"][0]["versions"][0]["action_id"] == rewritten["action_id"]
    approved = await run(settings, "approve", keys, "--reason", "it is right now")
    assert approved.code == 0
    assert f"{keys} Keys: flagged to live" in approved.out
    preview = await run(settings, "archive", invoices, "--preview")
    assert "Nothing was changed. This would be:" in preview.out
    unasked = await run(settings, "archive", invoices, webhooks)
    assert unasked.code == ExitCode.USAGE
    assert "Archive 2 documents needs --yes where nobody can be asked" in unasked.err
    archived = await run(settings, "archive", invoices, webhooks, "doc_none", "--yes")
    assert archived.code == ExitCode.PARTIAL
    assert "left doc_none" in archived.out
    action = archived.out.split("harry curate undo ")[1].split()[0]
    undone = await run(settings, "undo", action)
    assert undone.code == 0
    assert [await status(app, key) for key in (keys, invoices, webhooks)] == [S.LIVE] * 3
    refused = await run(settings, "keep", keys)
    assert refused.code == ExitCode.USAGE
    assert "It is live, and keep is not for such a document" in refused.out
    recent = (await run(settings, "list", "recent", "--json")).json
    assert [each["action"] for each in recent["actions"]] == ["undo", "archive", "approve", "rewrite"]
    assert recent["actions"][2]["reason"] == "it is right now"
    assert recent["actions"][0]["actor"].startswith("cli:")


async def test_messages_name_commands_and_no_tools(settings: Settings, app: App, tmp_path: Path) -> None:
    keys, *_ = await ingest(app)
    broken = tmp_path / "broken.md"
    broken.write_bytes(b"\xff\xfe")
    said = {
        ("undo", "act_nope"): "There is no action 'act_nope'. `harry curate list recent` shows them.",
        ("list", "--document", "doc_nope"): "There is no document 'doc_nope'. `harry curate list` shows the ids.",
        ("archive", "doc_nope"): "There is no such document; `harry curate list` and `harry search` show the ids.",
        ("rewrite", keys, "--file", str(tmp_path / "none.md")): f"There is no file {tmp_path / 'none.md'}.",
        ("rewrite", keys, "--file", str(tmp_path)): f"{tmp_path} cannot be read: ",
        ("rewrite", keys, "--file", str(broken)): f"{broken} is not UTF-8 text.",
    }
    for arguments, words in said.items():
        done = await run(settings, *arguments)
        told = " ".join((done.out + done.err).split())
        assert done.code == ExitCode.USAGE
        assert words in told
        assert not [tool.name for tool in TOOLS if tool.name in told]
    done = (await run(settings, "archive", keys, "--json")).json
    assert done["next_step"].endswith(f"`harry curate undo {done['action_id']}` undoes it.")


async def test_who_may_not_is_told(settings: Settings, app: App) -> None:
    keys, *_ = await ingest(app)
    for words in (
        ("archive", keys),
        ("archive", keys, "--preview"),
        ("undo", "act_none"),
        ("list",),
        ("list", "recent"),
    ):
        for role in ("reader", "contributor"):
            refused = await run(settings, *words, HARRY_ROLE=role)
            assert (refused.code, refused.out) == (ExitCode.USAGE, "")
            assert f"takes the role curator; you are {role}" in refused.err
    assert (await run(settings, "list", HARRY_ROLE="curator")).code == 0
