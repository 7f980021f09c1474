"""The language of a text, for the stemmer of the keyword index."""

from __future__ import annotations

import re
import threading
from importlib import import_module
from typing import Any, cast

_LEAST_LETTERS = 48  # below this the guess is a lottery: a wrong stemmer harms more than none
_SAMPLE = 6_000  # more text does not change the answer, only the time it takes
_NOT_PROSE = re.compile(
    r"^(`{3,}|~{3,}).*?(?:^\1|\Z)|^(?: {4}|\t).*$|`[^`\n]+`|<[^>\n]{1,200}>|\bhttps?://\S+|\]\([^)\n]*\)"
    r"|[!-~]*[_/\\=@{}\d][!-~]*",
    re.MULTILINE | re.DOTALL,
)
_NOT_LETTERS = re.compile("[\x00-\x40\x5b-\x60\x7b-\xbf\u2000-\u2bff\u3000-\u303f\uff00-\uff0f]+")
# The model knows 97 languages and mistakes short technical English for the small ones (Latin, Maltese, Luxembourgish):
# these are the languages that documentation is written in.
LANGUAGES_WORDS = (
    "ar bg bn ca cs da de el en es et fa fi fr he hi hr hu hy id it ja ka kk ko lt lv ms nb nl no pl pt "
    "ro ru sk sl sr sv sw ta te th tr uk ur vi zh"
)
LANGUAGES = frozenset(LANGUAGES_WORDS.split())
_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "ji": "yi"}
_loading = threading.Lock()


def iso_639_1(tag: str) -> str:
    """The two-letter language of a tag such as ``en-GB``, ``pt_BR`` or ``zh-Hans``; "" when it is not one."""
    code = re.split(r"[-_.,;\s]", tag.strip().lower(), maxsplit=1)[0]
    return _ALIASES.get(code, code) if re.fullmatch(r"[a-z]{2}", code) else ""


def detect_language(text: str) -> str:
    """The ISO 639-1 code of the prose in a Markdown text, "" when there is too little of it to tell."""
    prose = _NOT_PROSE.sub(" ", text[: 4 * _SAMPLE])
    words = _NOT_LETTERS.sub(" ", prose)[:_SAMPLE].strip()
    # One sign of these scripts says as much as two or three letters of an alphabet.
    letters = sum(3 if character >= "\u2e80" else 1 for character in words if character != " ")
    return _best(words) if letters >= _LEAST_LETTERS else ""


def _best(words: str) -> str:
    py3langid = cast(Any, import_module("py3langid"))  # it has no types
    with _loading:  # it builds its model on first use without a lock of its own
        ranked = cast("list[tuple[str, float]]", py3langid.rank(words))
    return iso_639_1(next((code for code, _ in ranked if code in LANGUAGES), ""))
