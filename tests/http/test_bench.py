"""OPS-6: sixteen clients at once over HTTP, and no call fails. For long it is measured by `scripts/bench http`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "scripts" / "bench.py"


@pytest.mark.promise("OPS-6")
@pytest.mark.promise("OPS-3")
def test_sixteen_clients_get_all_their_answers(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    with tempfile.TemporaryDirectory(prefix="harry-tests-", ignore_cleanup_errors=True) as folder:
        command = [sys.executable, str(BENCH), "http", "--chunks", "60", "--seconds", "3", "--json", str(report)]
        done = subprocess.run([*command, "--data-dir", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (section,) = json.loads(report.read_text(encoding="utf-8"))["sections"]
    assert len(section["tables"]) == 2
    for table in section["tables"]:
        figures = table["figures"]
        assert figures["errors"]["median"] == 0
        assert figures["calls a second"]["median"] > 1
        tails = [figures[f"search_kb, round trip, p{percent}"]["median"] for percent in (50, 95, 99)]
        assert tails == sorted(tails)
