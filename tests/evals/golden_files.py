"""A small golden set in files: a help centre, with questions that it answers and others that it does not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

CORPUS: list[dict[str, object]] = [
    {"id": "keys", "title": "API keys", "text": "Rotate an API key under Settings. The old key works for an hour."},
    {"id": "bills", "title": "Invoices", "text": "Invoices are sent on the first day of the month."},
    {"id": "sso", "title": "Single sign-on", "text": "Connect your identity provider with SAML."},
    {
        "id": "roles",
        "title": "Roles",
        "text": "An owner invites members. A viewer can read reports but change nothing.",
    },
    {"id": "export", "title": "Data export", "text": "Export all contacts as CSV. Large exports are mailed as a link."},
    {"id": "hooks", "title": "Webhooks", "text": "A webhook is retried for three days, and signed with your secret."},
]
QUERIES: list[dict[str, object]] = [
    {"id": "a1", "text": "How do I rotate an API key?", "relevant_ids": ["keys"]},
    {"id": "a2", "text": "When are invoices sent?", "relevant_ids": ["bills"]},
    {"id": "a3", "text": "Connect an identity provider with SAML", "relevant_ids": ["sso"]},
    {"id": "a4", "text": "Can a viewer change reports?", "relevant_ids": ["roles"]},
    {"id": "a5", "text": "Export contacts as CSV", "relevant_ids": ["export"]},
    {"id": "a6", "text": "For how long is a webhook retried?", "relevant_ids": ["hooks"]},
    {"id": "n1", "text": "How do I bake bread?", "answerable": False},
    {"id": "n2", "text": "Which bus goes to the airport?", "answerable": False},
    {"id": "n3", "text": "How do I delete an API key of another user?", "answerable": False},
    {"id": "n4", "text": "Can I pay invoices with a credit card?", "answerable": False},
    {"id": "n5", "text": "Does the export hold deleted contacts?", "answerable": False},
    {"id": "n6", "text": "What is the weather in Oslo?", "answerable": False},
]


@dataclass(frozen=True, slots=True)
class Files:
    """The paths of a golden set, as options of the command line."""

    corpus: Path
    queries: Path
    holdout: Path | None = None

    @property
    def options(self) -> list[str]:
        given = ["--corpus", str(self.corpus), "--queries", str(self.queries)]
        return [*given, "--holdout", str(self.holdout)] if self.holdout else given


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def help_centre(folder: Path) -> Files:
    return Files(write(folder / "corpus.jsonl", CORPUS), write(folder / "queries.jsonl", QUERIES))
