"""Which blocks of a page's main element belong to its article: our structure, with the eyes of an extractor.

An extractor sees what is a byline, a share line or a caption, but flattens lists, headings and definitions. So where
the two found the same article, our own blocks are kept, without those at the edges, and without the short ones
between, that the extractor left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harry_mcp.ingest.html_tree import Element

_WORD = re.compile(r"\w+")
_SHINGLE = 3  # words in a row: fewer match by chance, more are broken by one mark between
_LONG = 20  # a paragraph of so many words in the midst of the article is one of its own, whatever the extractor says
_STRUCTURE = re.compile(r"#|```|\| |[-*>] |\d+\. ")  # what an extractor loses most, and no share line has
_BLOCK_WORDS = "p li dd dt h1 h2 h3 h4 h5 h6 td th pre blockquote figcaption summary div section"
_BLOCKS = tuple(_BLOCK_WORDS.split())


def agreed_blocks(blocks: Sequence[str], article: str) -> list[str]:
    """Those of the Markdown ``blocks`` that the ``article`` bears out; code, tables and the page's h1 always stay."""
    words = _words(article)
    shingles = set(_shingles(words))
    line = f" {' '.join(words)} "
    found = [_is_found(_words(block), shingles, line) for block in blocks]
    sure = [place for place, block in enumerate(blocks) if found[place] and len(_words(block)) >= _SHINGLE]
    if not sure:
        return list(blocks)
    kept: list[str] = []
    for place, block in enumerate(blocks):
        inside = sure[0] < place < sure[-1]
        stays = block.startswith(("# ", "```", "| ")) or (
            inside and (_STRUCTURE.match(block) or len(_words(block)) >= _LONG)
        )
        if found[place] or stays:
            kept.append(block)
    return kept


def prose_words(main: Element) -> int:
    """The words of an element that are not in lists of links: what an article can lose at all."""
    total = 0
    for block in main.iter(*_BLOCKS):
        if next(block.iterdescendants(*_BLOCKS), None) is not None:
            continue
        words = len(_words(block.text_content()))
        linked = sum(len(_words(link.text_content())) for link in block.iterdescendants("a"))
        if 2 * linked <= words and next(block.iterancestors("a"), None) is None:
            total += words
    return total


def _is_found(words: Sequence[str], shingles: set[tuple[str, ...]], line: str) -> bool:
    if len(words) < _SHINGLE:
        return f" {' '.join(words)} " in line
    own = _shingles(words)
    return sum(shingle in shingles for shingle in own) >= 0.5 * len(own)


def _shingles(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + _SHINGLE]) for start in range(len(words) - _SHINGLE + 1)]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
