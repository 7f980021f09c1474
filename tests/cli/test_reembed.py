"""ING-6, ING-4, RUN-6: moving to another model and telling the cost, as commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from harry_mcp.cli.console import ExitCode
from harry_mcp.settings import Settings
from tests.cli.test_commands import Done, harry
from tests.ingest.test_situating import good, page
from tests.providers.test_voyage import vectors
from tests.providers.vendor import Answer, Asked, Vendor, always, vendor

pytestmark = pytest.mark.promise("RUN-6")


def answering(asked: Asked, number: int) -> Answer:
    return vectors(asked) if asked.path == "/embeddings" else good(asked, number)


@pytest.fixture
async def server() -> AsyncIterator[Vendor]:
    async with vendor(answering) as running:
        yield running


@pytest.fixture
def environment(settings: Settings, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "manual.md").write_text(page().text, encoding="utf-8")
    return {"HARRY_DATABASE_URL": settings.database_url.get_secret_value()}


async def command(*arguments: str, **environment: str) -> Done:
    return await asyncio.to_thread(harry, *arguments, **environment)


@pytest.mark.promise("ING-6")
async def test_to_voyage_and_back(server: Vendor, environment: dict[str, str], tmp_path: Path) -> None:
    docs = str(tmp_path / "docs")
    assert (await command("ingest", docs, **environment)).code == 0
    voyage = environment | {
        "VOYAGE_API_KEY": "pa-hush",
        "HARRY_VOYAGE__BASE_URL": server.url,
        "HARRY_VOYAGE__DIMENSION": "256",
    }
    refused = await command("search", "rotate", **voyage)
    assert refused.code == ExitCode.DATABASE
    assert "Run `harry reembed` to move it" in refused.err
    assert (await command("reembed", "--back", **environment)).code == ExitCode.USAGE
    asked = await command("reembed", **voyage, HARRY_INGEST__ASK_ABOVE="0.00000001")
    assert (asked.code, asked.out) == (ExitCode.USAGE, "")
    assert "Pass --yes" in asked.err
    counted = (await command("ingest", docs, "--estimate", "--json", **voyage)).code
    assert counted == ExitCode.DATABASE
    assert server.asked == []
    moved = await command("reembed", "--json", **voyage)
    assert (moved.code, moved.err) == (0, "")
    assert moved.json == {
        "space": "voyage/voyage-3.5 (256 dimensions, version 1)",
        "before": "local/all-MiniLM-L6-v2-int8 (384 dimensions, version 1)",
        "embedded": 4,
        "switched": True,
    }
    assert (await command("search", "rotate", "--json", **voyage)).json["hits"]
    assert (await command("search", "rotate", **environment)).code == ExitCode.DATABASE
    estimate = (await command("ingest", docs, "--estimate", "--json", **voyage)).json
    assert (estimate["documents"], estimate["embedder"], estimate["dollars"]) == (0, "voyage-3.5", 0.0)
    checks = {check["name"]: check["finding"] for check in (await command("doctor", "--json", **voyage)).json["checks"]}
    assert checks["vectors"] == (
        "voyage/voyage-3.5 (256 dimensions, version 1), in use, 4 of 4 chunks; "
        "local/all-MiniLM-L6-v2-int8 (384 dimensions, version 1), not in use, 4 of 4 chunks"
    )
    again = await command("reembed", **voyage)
    assert again.out.startswith("Already on voyage/voyage-3.5")
    back = await command("reembed", "--back", **environment)
    assert back.out.startswith("0 passages embedded. The knowledge base is now on local/")
    assert (await command("search", "rotate", "--json", **environment)).json["hits"]


@pytest.mark.promise("ING-6")
async def test_old_vectors_are_shown_asked_for_and_dropped(
    server: Vendor, environment: dict[str, str], tmp_path: Path
) -> None:
    assert (await command("ingest", str(tmp_path / "docs"), **environment)).code == 0
    none = await command("reembed", "--drop-old", "--yes", **environment)
    assert (none.code, none.out) == (0, "0 removed, 0.0 MB freed\n")
    voyage = environment | {
        "VOYAGE_API_KEY": "pa-hush",
        "HARRY_VOYAGE__BASE_URL": server.url,
        "HARRY_VOYAGE__DIMENSION": "256",
    }
    assert (await command("reembed", **voyage)).code == 0
    old = "local/all-MiniLM-L6-v2-int8 (384 dimensions, version 1)"
    asked = await command("reembed", "--drop-old", **voyage)
    assert (asked.code, asked.out.startswith(f"  {old}: 4 vectors, ")) == (ExitCode.USAGE, True)
    assert "Remove the vectors of this model needs --yes" in asked.err
    assert (await command("reembed", "--drop-old", "--back", "--yes", **voyage)).code == ExitCode.USAGE
    dropped = await command("reembed", "--drop-old", "--yes", "--json", **voyage)
    assert [(each["space"], each["vectors"]) for each in dropped.json["dropped"]] == [(old, 4)]
    assert dropped.json["dropped"][0]["bytes"] > 0
    assert (await command("search", "rotate", "--json", **voyage)).json["hits"]
    assert (await command("reembed", "--back", "--yes", **voyage)).code == ExitCode.USAGE
    again = await command("reembed", "--json", **environment)
    assert (again.code, again.json["embedded"], again.json["switched"]) == (0, 4, True)


@pytest.mark.promise("ING-4")
async def test_the_cost_is_told_and_asked_for(server: Vendor, environment: dict[str, str], tmp_path: Path) -> None:
    docs = str(tmp_path / "docs")
    free = await command("ingest", docs, "--estimate", **environment)
    assert free.out.startswith("1 documents to write, 4 chunks. Nothing to pay: contexts come from the template")
    claude = environment | {"ANTHROPIC_API_KEY": "sk-ant-hush", "HARRY_CLAUDE__BASE_URL": server.url}
    estimate: Any = json.loads((await command("ingest", docs, "--estimate", "--json", **claude)).out)
    assert (estimate["documents"], estimate["chunks"], estimate["model"]) == (1, 4, "claude-haiku-5-5")
    assert 0 < estimate["dollars"] < 0.01
    shown = await command("ingest", docs, "--estimate", **claude)
    assert "Contexts by claude-haiku-5-5" in shown.out
    assert "at the prices of 2026-10-07. About $0.00 in all. Nothing was written." in shown.out
    asked = await command("ingest", docs, **claude, HARRY_INGEST__ASK_ABOVE="0.00001")
    assert asked.code == ExitCode.USAGE
    assert "over the $0.00 of HARRY_INGEST__ASK_ABOVE" in asked.err
    assert server.asked == []
    done = await command("ingest", docs, "--yes", "--json", **claude, HARRY_INGEST__ASK_ABOVE="0.00001")
    assert (done.code, done.json["chunks_written"], len(server.asked)) == (0, 4, 4)
    unchanged = await command("ingest", docs, "--estimate", **claude)
    assert unchanged.out.startswith("0 documents to write, 0 chunks.")


@pytest.mark.promise("ING-4")
async def test_a_wrong_key_ingests_by_template_and_says_so(
    server: Vendor, environment: dict[str, str], tmp_path: Path
) -> None:
    server.answering = always(Answer({"error": {"message": "invalid x-api-key"}}, status=401))
    claude = environment | {"ANTHROPIC_API_KEY": "sk-ant-hush", "HARRY_CLAUDE__BASE_URL": server.url}
    done = await command("ingest", str(tmp_path / "docs"), **claude)
    assert done.code == ExitCode.PARTIAL
    assert "4 of 4 passages have the template context: ANTHROPIC_API_KEY is refused (401)" in done.out
    assert "hush" not in done.out + done.err
    doctor = await command("doctor", "--json", **claude)
    found = {check["name"]: check["finding"] for check in doctor.json["checks"]}
    assert "claude-haiku-5-5" in found["contexts"]
