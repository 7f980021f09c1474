"""RET-8: words for the keyword index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harry_mcp.domain.tokens import LONGEST_TERM, index_terms, query_terms


@pytest.mark.promise("RET-8")
@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserName", ["getusernam", "user", "name"]),
        ("get_user_name", ["user", "name", "get_user_nam"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("v3", ["v3"]),
        ("upgrade to 4.1.1.2", ["upgrad", "4", "1", "1", "2", "4_1_1_2"]),
        ("error SQLSTATE-08003", ["error", "sqlstate", "08003", "sqlstate_08003"]),
        ("don't", ["dont"]),
        ("the of and", []),
        ("数据库连接", ["数据", "据库", "库连", "连接"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("API数据库", ["api", "数据", "据库"]),
        ("ＨＮＳＷ", ["hnsw"]),
        ("", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    # "get" is a stop word: it is dropped alone and kept in the whole identifier.
    assert index_terms(text) == terms


@pytest.mark.promise("RET-8")
def test_stemming_follows_the_language() -> None:
    assert index_terms("Verbindungen", "de") == index_terms("Verbindung", "de")
    assert index_terms("Verbindungen", "en") != index_terms("Verbindung", "en")
    assert index_terms("connections", "xx") == ["connections"]


@pytest.mark.promise("RET-8")
def test_a_question_has_the_stems_of_every_language_of_the_knowledge_base() -> None:
    assert query_terms("running connections", ("en", "de")) == [("run", "running"), ("connect", "connection")]
    assert query_terms("running runs", ("en",)) == [("run",)]


@given(st.text(max_size=400))
def test_any_text_gives_bounded_terms_and_a_question_finds_its_own_words(text: str) -> None:
    terms = index_terms(text)
    assert all(0 < len(term) <= LONGEST_TERM for term in terms)
    assert {term for word in query_terms(text) for term in word} == set(terms)
