"""OPS-5: export and import as commands, through files, pipes and another model; questions with their answers."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from psycopg import AsyncConnection

from harry_mcp.app import App
from harry_mcp.cli.console import ExitCode
from harry_mcp.settings import Settings, child_environment
from harry_mcp.storage.scratch import scratch_database
from tests.cli.test_commands import NOWHERE, Done, harry
from tests.loop.small_base import ANSWER, KEYS, QUESTION, filled
from tests.providers.test_voyage import vectors
from tests.providers.vendor import vendor
from tests.storage.recount import rows
from tests.transfer.lived_in import live_in

pytestmark = pytest.mark.promise("OPS-5")


async def command(*arguments: str, **environment: str) -> Done:
    return await asyncio.to_thread(harry, *arguments, **environment)


def at(settings: Settings) -> dict[str, str]:
    return {"HARRY_DATABASE_URL": settings.database_url.get_secret_value()}


async def test_from_one_base_to_another_and_again(
    app: App, settings: Settings, connection: AsyncConnection[tuple[object, ...]], tmp_path: Path
) -> None:
    await live_in(app, connection)
    file, second = tmp_path / "base.jsonl.gz", tmp_path / "again.jsonl"
    wrote = await command("export", str(file), "--vectors", "--searches", "--json", **at(settings))
    assert (wrote.code, wrote.err) == (0, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = gzip.decompress(file.read_bytes()).decode()
    assert wrote.json == {"file": str(file), "records": text.count("\n") - 2}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    async with scratch_database(settings) as own:
        dry = await command("import", str(file), "--dry-run", **at(own))
        assert dry.code == 0
        assert "documents: 7 would be added, 0 unchanged, 0 different here" in dry.out
        done = await command("import", str(file), "--json", **at(own))
        assert (done.code, done.err) == (0, "")
        assert sum(kind["added"] for kind in done.json["kinds"].values()) == wrote.json["records"]
        assert (done.json["embedded"], done.json["problem"]) == (0, "")
        assert (await command("export", str(second), "--vectors", "--searches", **at(own))).code == 0
        assert second.read_text(encoding="utf-8") == text
        again = await command("import", str(second), **at(own))
        assert again.code == 0
        assert "documents: 0 added, 7 unchanged, 0 different here" in again.out
        async with await AsyncConnection.connect(own.database_url.get_secret_value(), autocommit=True) as other:
            await other.execute(b"UPDATE harry.documents SET title = 'Ours' WHERE source = 'test:keys'")
        differs = await command("import", str(file), **at(own))
        assert differs.code == ExitCode.PARTIAL
        assert "documents: 0 added, 6 unchanged, 1 different here" in differs.out
        assert f"stay as they are here: {KEYS.id} ({KEYS.title})" in differs.out
        told = (await command("import", str(file), "--json", **at(own))).json["kinds"]["documents"]
        assert (told["differing"], told["titles"]) == ([KEYS.id], {KEYS.id: KEYS.title})


async def test_no_file_is_replaced_unasked_and_none_is_lost(app: App, settings: Settings, tmp_path: Path) -> None:
    await filled(app)
    old, link, folder = tmp_path / "old.jsonl", tmp_path / "link.jsonl", tmp_path / "folder"
    old.write_text("old\n", encoding="utf-8")
    link.symlink_to(old)
    folder.mkdir()
    for name, more in ((old, ()), (link, ()), (folder, ("--force",)), (folder, ()), (Path(os.devnull), ("--force",))):
        # Before the database is looked for: this one is away.
        refused = await command("export", str(name), *more, HARRY_DATABASE_URL=NOWHERE)
        assert (refused.code, refused.out) == (ExitCode.USAGE, "")
        assert "is no file" in refused.err if name in (folder, Path(os.devnull)) else "pass --force" in refused.err
    full = await asyncio.to_thread(_with_little_room, [str(old), "--force"], at(settings))
    assert (full.returncode, full.stdout) == (ExitCode.USAGE, b"")
    assert full.stderr.decode() == f"harry: {old} cannot be written: File too large.\n"
    gone = await command("export", str(old), "--force", HARRY_DATABASE_URL=NOWHERE)
    assert gone.code == ExitCode.DATABASE
    assert old.read_text(encoding="utf-8") == "old\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link.jsonl", "old.jsonl"]
    done = await command("export", str(link), "--force", **at(settings))
    assert (done.code, done.err) == (0, "")
    assert link.is_symlink()
    assert old.read_text(encoding="utf-8").startswith('{"kind": "harry-export"')


def _with_little_room(words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """An export that may write files of 2,000 bytes and no larger, as on a disk that is nearly full."""
    limited = "import resource, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); "
    program = limited + "runpy.run_module('harry_mcp.cli.main', run_name='__main__', alter_sys=True)"
    return subprocess.run(
        [sys.executable, "-W", "ignore::RuntimeWarning", "-c", program, "export", *words],
        env=child_environment(**environment),
        capture_output=True,
        check=False,
        timeout=60,
    )


async def test_through_a_pipe_and_without_vectors(app: App, settings: Settings) -> None:
    await filled(app)
    wrote = await command("export", "-", **at(settings))
    assert (wrote.code, wrote.err) == (0, "")
    lines = [json.loads(line) for line in wrote.out.splitlines()]
    assert lines[0]["kind"] == "harry-export"
    assert lines[-1] == {"kind": "end", "records": len(lines) - 2}
    async with scratch_database(settings) as own:
        program = [sys.executable, "-m", "harry_mcp.cli.main", "import", "-", "--json"]
        done = await asyncio.to_thread(
            subprocess.run,
            program,
            input=wrote.out.encode(),
            env=child_environment(**at(own)),
            capture_output=True,
            check=True,
            timeout=120,
        )
        assert json.loads(done.stdout)["embedded"] == sum(line["kind"] == "chunks" for line in lines)
        found = await command("search", QUESTION, "--json", **at(own))
        assert found.json["hits"][0]["url"] == KEYS.url
        assert found.json["degraded"] == []


async def test_vectors_of_another_model_are_not_trusted(
    app: App, settings: Settings, connection: AsyncConnection[tuple[object, ...]], tmp_path: Path
) -> None:
    await live_in(app, connection)
    file = str(tmp_path / "base.jsonl")
    assert (await command("export", file, "--vectors", **at(settings))).code == 0
    async with vendor(lambda asked, _: vectors(asked)) as server, scratch_database(settings) as own:
        voyage = at(own) | {
            "VOYAGE_API_KEY": "pa-hush",
            "HARRY_VOYAGE__BASE_URL": server.url,
            "HARRY_VOYAGE__DIMENSION": "256",
        }
        refused = await command("import", file, **voyage, HARRY_INGEST__ASK_ABOVE="0.00000001")
        assert refused.code == ExitCode.PARTIAL
        assert "`harry reembed` embeds what has no vector yet" in refused.out
        done = await command("import", file, "--yes", "--json", **voyage, HARRY_INGEST__ASK_ABOVE="0.00000001")
        assert (done.code, done.json["problem"]) == (0, "")
        assert done.json["embedded"] > 0
        async with await AsyncConnection.connect(own.database_url.get_secret_value(), autocommit=True) as other:
            found = await rows(
                other,
                "SELECT s.model, (SELECT count(*) FROM harry.chunks c WHERE NOT EXISTS (SELECT FROM "
                "harry.chunk_vectors v WHERE v.chunk_id = c.id AND v.space_id = s.id)) FROM harry.embedding_spaces s",
            )
            assert found == [("voyage-3.5", 0)]
            kinds = await rows(other, "SELECT kind, count(*)::int FROM harry.memory_vectors GROUP BY kind ORDER BY 1")
            assert [kind for kind, _ in kinds] == ["asked", "correction", "failure", "never_serve", "verified"]


def test_a_file_that_is_none_is_refused_in_a_line(tmp_path: Path, settings: Settings) -> None:
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"kind": "harry-export"' + b" " * 10_000)[:-20])
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"question": "Wo ist Zürich?", "answer": "Da."}\n'.encode("latin-1"))
    for name, content, sentence in (
        ("none.jsonl", None, "cannot be read: No such file"),
        ("empty.jsonl", "", "is empty"),
        ("row.csv", "question,answer\nA?,B.\nC?,\n", "Line 3 has a question and no answer"),
        ("word.txt", "hello\n", "names no column `question` and no column `answer`; it names `hello`"),
        ("half.jsonl", '{"kind": "harry-export", ', "Line 1 is no JSON"),
        ("list.json", '[{"question": "A?", "answer": "B."}]\n', "Write one object a line"),
        ("other.jsonl", '{"id": 1}\n', "Line 1 has no `question` and `answer`"),
        (cut.name, None, "cut off or no whole gzip file"),
        (latin.name, None, "is not UTF-8"),
    ):
        path = tmp_path / name
        if content is not None:
            path.write_text(content, encoding="utf-8")
        done = harry("import", str(path), **at(settings))
        assert (done.code, done.out) == (ExitCode.USAGE, ""), name
        assert sentence in done.err, name
        assert done.err.count("\n") == 1
    place = tmp_path / "none" / "there.jsonl"
    assert "cannot be written" in harry("export", str(place), **at(settings)).err


async def test_questions_with_their_answers_become_candidates(
    app: App, settings: Settings, connection: AsyncConnection[tuple[object, ...]], tmp_path: Path
) -> None:
    await filled(app)
    table = tmp_path / "answers.csv"
    table.write_text(
        "Question,Answer,URL,Owner\r\n"
        f'"{QUESTION}","{ANSWER}",https://docs.example.com/keys?utm_source=mail,me\r\n'
        'When are invoices sent?,"On the first day,\nby mail.",,\r\n'
        f'"{QUESTION.upper()}","{ANSWER}",,\r\n\r\n',
        encoding="utf-8-sig",
    )
    dry = await command("import", str(table), "--dry-run", "--json", **at(settings))
    assert dry.json == {"dry_run": True, "answers": 3, "added": 2}
    assert await app.loop.verified.list("", limit=5) == []
    done = await command("import", str(table), **at(settings))
    assert (done.code, done.err) == (0, "")
    assert done.out == "2 candidates for official answers added, 1 is here already or comes twice\n"
    candidates = {entry.question: entry for entry in await app.loop.verified.list("candidate", limit=5)}
    assert candidates["When are invoices sent?"].answer == "On the first day,\nby mail."
    (source,) = candidates[QUESTION].sources
    assert (source.document_id, source.title) == (KEYS.id, KEYS.title)
    lines = tmp_path / "answers.jsonl"
    lines.write_text(
        json.dumps({"question": QUESTION, "answer": ANSWER})
        + "\n\n"
        + json.dumps({"question": "Where are keys?", "answer": "In Settings.", "sources": [KEYS.url]})
        + "\n"
        + json.dumps({"question": "And invoices?", "answer": "By mail.", "sources": [{"title": "X", "url": ""}]}),
        encoding="utf-8",
    )
    more = await command("import", str(lines), "--json", **at(settings))
    assert more.json == {"dry_run": False, "answers": 3, "added": 2}
    entry = next(
        each for each in await app.loop.verified.list("candidate", limit=9) if each.question == "Where are keys?"
    )
    assert [(each.title, each.document_id) for each in entry.sources] == [(KEYS.title, KEYS.id)]
    assert entry.origin == "import"
    lacking = "SELECT id FROM verified_responses r WHERE NOT EXISTS (SELECT FROM memory_vectors WHERE owner_id = r.id)"
    assert await rows(connection, lacking) == []
    broken = tmp_path / "broken.csv"
    broken.write_text('question,answer\nOne?,Yes.\nTwo?,""\n', encoding="utf-8")
    refused = await command("import", str(broken), **at(settings))
    assert refused.code == ExitCode.USAGE
    assert "Line 3 has a question and no answer" in refused.err
    assert "One?" not in {each.question for each in await app.loop.verified.list("", limit=20)}


async def test_an_import_that_is_killed_leaves_nothing_and_can_be_begun_anew(app: App, settings: Settings) -> None:
    await filled(app)
    lines = (await command("export", "-", "--vectors", **at(settings))).out.splitlines(keepends=True)
    async with scratch_database(settings) as own:
        program = [sys.executable, "-m", "harry_mcp.cli.main", "import", "-"]
        importing = await asyncio.create_subprocess_exec(
            *program, stdin=asyncio.subprocess.PIPE, env=child_environment(**at(own))
        )
        assert importing.stdin is not None
        importing.stdin.write("".join(lines[:-1]).encode())
        await importing.stdin.drain()
        url = own.database_url.get_secret_value()
        async with await AsyncConnection.connect(url, autocommit=True) as other:
            working = (
                "SELECT count(*) > 0 FROM pg_sleep(0.05), pg_locks l JOIN pg_class c ON c.oid = l.relation "
                "WHERE c.relname = 'chunks' AND l.mode = 'RowExclusiveLock'"
            )
            async with asyncio.timeout(60):
                while await rows(other, working) != [(True,)]:
                    pass
            importing.kill()
            await importing.wait()
            assert await rows(other, "SELECT count(*) FROM harry.documents") == [(0,)]
        whole = await asyncio.to_thread(
            subprocess.run,
            program,
            input="".join(lines).encode(),
            env=child_environment(**at(own)),
            timeout=120,
            check=False,
        )
        assert whole.returncode == 0
        again = await command("export", "-", "--vectors", **at(own))
        assert again.out.splitlines(keepends=True)[1:] == lines[1:]
