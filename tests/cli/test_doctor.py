"""OPS-4: with each part broken in turn the doctor says which one, what is wrong with it and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from psycopg import AsyncConnection

from harry_mcp.cli.doctor import code_of, examine
from harry_mcp.cli.doctor_access import disk
from harry_mcp.cli.doctor_check import Check
from harry_mcp.cli.ends import ExitCode
from harry_mcp.settings import Settings, load_settings
from tests.http.issuer import Issuer, Key, published
from tests.jobs.post_office import PASSWORD, post_office
from tests.providers.vendor import Answer, vendor

pytestmark = pytest.mark.promise("OPS-4")

NOWHERE = "http://127.0.0.1:1"
ISSUER = "https://login.example.com"
MAIL = {"HARRY_MAIL__HOST": "127.0.0.1", "HARRY_MAIL__RECIPIENTS": "ann@example.com"}


async def examined(settings: Settings, **environment: str) -> tuple[int, dict[str, Check]]:
    """How it ends, and its lines by name."""
    given = {"HARRY_DATABASE_URL": settings.database_url.get_secret_value(), **environment}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, value)
        checks = await examine()
    return code_of(checks), {check.name: check for check in checks}


def wrong(checks: dict[str, Check]) -> list[str]:
    return [name for name, check in checks.items() if not check.ok]


async def test_all_is_well_without_anything_set(settings: Settings) -> None:
    code, checks = await examined(settings)
    assert (code, wrong(checks)) == (0, [])
    assert "no tokens" in checks["access"].finding
    assert "server of its own" in checks["disk"].finding


@pytest.mark.parametrize(
    ("environment", "code", "name", "sentences"),
    [
        (
            {"HARRY_AUTH__TOKENS_FILE": "/none/tokens"},
            ExitCode.USAGE,
            "access",
            ["There is no file of tokens /none/tokens", "harry token new"],
        ),
        (
            {"HARRY_AUTH__ISSUER": ISSUER, "HARRY_AUTH__JWKS_URL": f"{NOWHERE}/jwks"},
            ExitCode.PROVIDER,
            "access",
            [f"cannot be fetched from {NOWHERE}/jwks", "Check HARRY_AUTH__JWKS_URL"],
        ),
        (
            {**MAIL, "HARRY_MAIL__PORT": "1"},
            ExitCode.PROVIDER,
            "mail",
            ["127.0.0.1:1 cannot be used: Connection refused", "Check HARRY_MAIL__HOST"],
        ),
        (
            {"HARRY_VECTORS__INDEX": "qdrant", "HARRY_VECTORS__QDRANT_URL": NOWHERE},
            ExitCode.PROVIDER,
            "index",
            [f"Qdrant cannot be reached at {NOWHERE}"],
        ),
        ({"HARRY_JOBS__DIGEST": "daily"}, ExitCode.USAGE, "jobs", ["HARRY_JOBS__DIGEST"]),
    ],
    ids=["tokens file", "jwks", "mail", "qdrant", "schedule"],
)
async def test_one_broken_part_is_named_and_the_rest_is_looked_at(
    settings: Settings, environment: dict[str, str], code: ExitCode, name: str, sentences: Sequence[str]
) -> None:
    ended, checks = await examined(settings, **environment)
    assert (ended, wrong(checks)) == (code, [name])
    for sentence in sentences:
        assert sentence in checks[name].finding


async def test_of_several_a_setting_counts_first(settings: Settings) -> None:
    ended, checks = await examined(
        settings, HARRY_AUTH__TOKENS_FILE="/none/tokens", HARRY_DATABASE_URL="harry:hush", **MAIL, HARRY_MAIL__PORT="1"
    )
    assert (ended, wrong(checks)) == (ExitCode.USAGE, ["access", "database"])
    ended, checks = await examined(
        settings, HARRY_DATABASE_URL="harry:hush", VOYAGE_API_KEY="pa-hush", HARRY_VOYAGE__BASE_URL=NOWHERE
    )
    assert (ended, wrong(checks)) == (ExitCode.DATABASE, ["embeddings", "database"])


async def test_a_key_that_is_refused_is_found_out(settings: Settings) -> None:
    async with vendor(lambda _asked, _number: Answer({"detail": "Provided API key is invalid."}, status=401)) as server:
        ended, checks = await examined(
            settings,
            VOYAGE_API_KEY="pa-hush",
            HARRY_VOYAGE__BASE_URL=server.url,
            HARRY_DATABASE_URL=settings.database_url.get_secret_value(),
        )
    assert ended == ExitCode.DATABASE  # for the base was embedded with another model
    assert "embeddings" in wrong(checks)
    assert "VOYAGE_API_KEY" in checks["embeddings"].finding
    assert "hush" not in str(checks)


async def test_the_key_of_claude_is_tried_without_asking_anything(settings: Settings) -> None:
    answers = [
        Answer({"error": {"message": "invalid x-api-key"}}, status=401),
        Answer({"error": {"type": "not_found_error", "message": "model"}}, status=404),
        Answer(
            {"id": "claude-haiku-5-5", "type": "model", "display_name": "Haiku", "created_at": "2026-01-01T00:00:00Z"}
        ),
    ]
    for answer, broken in zip(answers, (["claude"], [], []), strict=True):
        async with vendor(lambda _asked, _number, answer=answer: answer) as server:
            ended, checks = await examined(settings, ANTHROPIC_API_KEY="sk-ant-hush", HARRY_CLAUDE__BASE_URL=server.url)
            assert [asked.path.partition("?")[0] for asked in server.asked] == ["/v1/models/claude-haiku-5-5"]
        assert (ended, wrong(checks)) == (ExitCode.PROVIDER if broken else 0, broken)
        assert "ANTHROPIC_API_KEY" in checks["claude"].finding
        assert "hush" not in str(checks)


async def test_an_issuer_and_a_mail_server_that_answer_are_well(settings: Settings, tmp_path: Path) -> None:
    with published(Issuer(Key("es"))) as issuer:
        given = {"HARRY_AUTH__ISSUER": ISSUER, "HARRY_AUTH__JWKS_URL": issuer.url}
        async with post_office(tmp_path) as office:
            letters = office.environment("ann@example.com")
            ended, checks = await examined(settings, **given, **letters)
            assert (ended, wrong(checks)) == (0, [])
            assert "whose keys were fetched" in checks["access"].finding
            ended, checks = await examined(settings, **letters | {"HARRY_MAIL__PASSWORD": f"not {PASSWORD}"})
            assert (ended, wrong(checks)) == (ExitCode.PROVIDER, ["mail"])
            assert "Check HARRY_MAIL__USERNAME and HARRY_MAIL__PASSWORD" in checks["mail"].finding
    with published(Issuer(Key("weak", "RS256", bits=1024))) as issuer:
        ended, checks = await examined(settings, HARRY_AUTH__ISSUER=ISSUER, HARRY_AUTH__JWKS_URL=issuer.url)
    assert (ended, wrong(checks)) == (ExitCode.PROVIDER, ["access"])
    assert "none of them can be used" in checks["access"].finding


async def test_a_pgvector_that_is_too_old_is_told_how_to_renew(
    settings: Settings, connection: AsyncConnection[tuple[object, ...]]
) -> None:
    await connection.execute(b"UPDATE pg_extension SET extversion = '0.6.2' WHERE extname = 'vector'")
    ended, checks = await examined(settings)
    assert (ended, wrong(checks)) == (ExitCode.DATABASE, ["database"])
    assert "harry needs pgvector 0.7 or later" in checks["database"].finding
    assert "ALTER EXTENSION vector UPDATE" in checks["database"].finding


async def test_jobs_that_are_stuck_or_that_nobody_runs_are_told(
    settings: Settings, connection: AsyncConnection[tuple[object, ...]]
) -> None:
    await connection.execute(
        b"INSERT INTO job_runs (job, state, started_at) VALUES ('digest', 'running', now() - interval '7 hours')"
    )
    ended, checks = await examined(settings)
    assert (ended, wrong(checks)) == (ExitCode.FAILED, ["jobs"])
    assert "digest: running since" in checks["jobs"].finding
    assert "Start `harry worker`" in checks["jobs"].finding
    await connection.execute(
        b"UPDATE job_runs SET state = 'done', started_at = now() - interval '3 days', finished_at = now()"
    )
    ended, checks = await examined(settings)
    assert (ended, wrong(checks)) == (0, [])
    assert "is a `harry worker` running?" in checks["jobs"].finding
    await connection.execute(b"UPDATE job_runs SET started_at = now() - interval '1 hour'")
    assert "running?" not in (await examined(settings))[1]["jobs"].finding


def test_a_disk_that_is_nearly_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings({"HARRY_DATA_DIR": str(tmp_path / "not" / "made" / "yet")})
    assert disk(settings).ok
    asked: list[Path] = []

    def nearly_full(place: Path) -> SimpleNamespace:
        asked.append(place)
        return SimpleNamespace(free=900_000_000)

    monkeypatch.setattr(shutil, "disk_usage", nearly_full)
    found = disk(settings)
    assert asked == [tmp_path]
    assert not found.ok
    assert "0.9 GB free" in found.finding
    assert "Make room" in found.finding
