"""EVL-1: the files of a golden set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harry_mcp.errors import EvalError
from harry_mcp.evals import golden
from tests.evals.golden_files import CORPUS, QUERIES, write

pytestmark = pytest.mark.promise("EVL-1")


@pytest.mark.parametrize(
    ("corpus", "queries", "message"),
    [
        ('{"id": "a"}\n', "{}\n", "c.jsonl, line 1: text: Field required"),
        ("nonsense\n", "{}\n", "c.jsonl, line 1"),
        ('{"id":"a","text":"x"}\n{"id":"a","text":"y"}\n', "{}\n", "line 2: the id 'a' stands there twice"),
        ('{"id":"a","text":"x"}\n', "", "There is nothing to measure"),
        ('{"id":"a","text":"x"}\n', '{"id":"q","text":"?","relevant_ids":["b"]}\n', "None of the relevant_ids"),
        ('{"id":"a","text":"x"}\n', '{"id":"q","text":"?","history":7}\n', "q.jsonl, line 1: history"),
    ],
)
def test_a_faulty_golden_set_is_named(tmp_path: Path, corpus: str, queries: str, message: str) -> None:
    (tmp_path / "c.jsonl").write_text(corpus, encoding="utf-8")
    (tmp_path / "q.jsonl").write_text(queries, encoding="utf-8")
    with pytest.raises(EvalError, match=message):
        golden.load(tmp_path / "c.jsonl", tmp_path / "q.jsonl")


def test_files_as_other_tools_write_them(tmp_path: Path) -> None:
    """With a byte order mark, CRLF, blank lines, a line separator inside of a text, and keys of their own."""
    corpus, queries = tmp_path / "c.jsonl", tmp_path / "q.jsonl"
    lines = ['{"id": "a", "text": "one\u2028two", "author": "x"}', "", '{"id": "b", "text": "three"}']
    corpus.write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    queries.write_text('{"id": "q", "text": "two?", "relevant_ids": ["a"], "answer": "x", "history": null}\n')
    found = golden.load(corpus, queries)
    assert [row.text for row in found.corpus] == ["one\u2028two", "three"]
    assert found.questions[0].history == ()


def test_history_is_read_as_texts_or_as_messages(tmp_path: Path) -> None:
    history = ["What is Operations Hub?", {"role": "assistant", "content": "A product."}, {"text": "And its price?"}]
    rows = write(tmp_path / "q.jsonl", [{"id": "q", "text": "and that?", "relevant_ids": ["keys"], "history": history}])
    found = golden.load(write(tmp_path / "c.jsonl", CORPUS), rows).questions[0]
    assert found.history == ("What is Operations Hub?", "assistant: A product.", "And its price?")


def test_a_holdout_takes_documents_away_and_another_set_has_another_fingerprint(tmp_path: Path) -> None:
    corpus, queries = write(tmp_path / "c.jsonl", CORPUS), write(tmp_path / "q.jsonl", QUERIES)
    holdout = tmp_path / "h.json"
    holdout.write_text(json.dumps({"removed_documents": ["bills", "sso"], "now_unanswerable": ["a2"]}))
    whole, less = golden.load(corpus, queries), golden.load(corpus, queries, holdout)
    assert len(less.corpus) == len(whole.corpus) - 2
    assert (whole.findable, less.findable) == (6, 5)
    # a3 lost its page too, and nobody said so
    assert (whole.lost, less.lost) == ([], ["a3"])
    assert whole.fingerprint == golden.load(corpus, queries).fingerprint != less.fingerprint
