"""The pages of a golden set, those that are held out at the start, and which of them answers whom."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.domain.sentences import sentences
from harry_mcp.errors import EvalError
from harry_mcp.evals.corpus import GoldenCorpus, row_of
from harry_mcp.evals.golden import CorpusRow, GoldenSet, Question
from harry_mcp.ingest.ingester import PreparedDocument

# What a person quotes of a page: a sentence or two.
_QUOTED = 2
_LONGEST_QUOTE = 350
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Page:
    """A document of the corpus, whole."""

    id: str
    title: str
    text: str

    def quote(self, wanted: str) -> str:
        """The two sentences in a row that share the most words with ``wanted``, cut at a word."""
        said = [each.plain for each in sentences(self.text)] or [" ".join(self.text.split())]
        spans = [" ".join(said[start : start + _QUOTED]) for start in range(max(1, len(said) - _QUOTED + 1))]
        sought = _words(wanted)
        best = max(spans, key=lambda span: len(sought & _words(span)))
        return best if len(best) <= _LONGEST_QUOTE else best[:_LONGEST_QUOTE].rsplit(" ", 1)[0]


class Library:
    """``whole`` has all pages, ``start`` those that the knowledge base begins with."""

    def __init__(self, whole: GoldenSet, start: GoldenSet) -> None:
        """
        Raises:
            EvalError: no question can be judged.
        """
        self._rows: dict[str, list[CorpusRow]] = {}
        home: dict[str, str] = {}
        for row in whole.corpus:
            home[row.id] = row.doc_id or row.id
            self._rows.setdefault(home[row.id], []).append(row)
        self.pages = {key: _page(key, rows) for key, rows in self._rows.items()}
        self.held = set(self.pages) - {row.doc_id or row.id for row in start.corpus}
        self._gold = {
            question.id: frozenset(home[row] for row in question.relevant_ids if row in home)
            if question.answerable
            else frozenset[str]()
            for question in whole.questions
        }
        self.by_id = {each.id: each for each in whole.questions}
        # Where it is not known which page answers, nobody can say whether a reply was right.
        self.questions = [each for each in whole.questions if self._gold[each.id] or not each.answerable]
        if not any(self._gold.values()):
            raise EvalError("No question names a page of the corpus, so nobody could say what is right.")

    def gold(self, question: Question) -> frozenset[str]:
        """The pages that answer a question, in the knowledge base or held out; empty where none does."""
        return self._gold[question.id]

    def documents(self, pages: Collection[str]) -> list[SourceDocument | PreparedDocument]:
        """Pages as what is ingested."""
        rows = tuple(row for key in pages for row in self._rows[key])
        return list(GoldenCorpus(GoldenSet(corpus=rows, questions=())).documents())

    @staticmethod
    def stored_as(items: Sequence[SourceDocument | PreparedDocument]) -> dict[str, str]:
        """The page by the id under which it is stored."""
        return {(item if isinstance(item, SourceDocument) else item.document).id: row_of(item) for item in items}


def _page(key: str, rows: Sequence[CorpusRow]) -> Page:
    return Page(id=key, title=rows[0].title or key, text="\n\n".join(row.text for row in rows))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
