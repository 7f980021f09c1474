"""What an ingestion will cost, told before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harry_mcp.ingest.preparing import PreparedDocument
from harry_mcp.ingest.situating import SYSTEM, document_parts
from harry_mcp.ports import Completion
from harry_mcp.providers.usage import dollars
from harry_mcp.settings import ClaudeSection, VoyageSection

# Characters of English to a token of the models since Claude 4.7, whose tokens are shorter than those before; other
# scripts have more tokens than characters at times. Real counts differ by a quarter either way.
_CHARACTERS_A_TOKEN = 3.0
_FOREIGN = 0.9
# The tags and the request around a passage, and a context as the models write them.
_AROUND = 40
_ANSWER = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Documents to write, their chunks, and what contexts and vectors will cost. A name is empty where nothing will.

    Documents that are cut by meaning are counted by their chunks under headings, which are about as many.
    """

    documents: int
    chunks: int
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    prices_of: str = ""
    embedding_tokens: int = 0
    embedder: str = ""
    dollars: float = 0.0


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has."""
    plain = len(text.encode("ascii", "ignore"))
    return round(plain / _CHARACTERS_A_TOKEN + (len(text) - plain) * _FOREIGN)


def estimate(
    prepared: Sequence[PreparedDocument],
    *,
    claude: ClaudeSection | None = None,
    voyage: VoyageSection | None = None,
    windows: int = 0,
) -> Estimate:
    """The cost of documents: contexts by Claude, vectors by Voyage, each where its settings are given.

    ``windows``: how often a text is also embedded to find where to cut it. An upper bound for documents that are there
    already: passages that did not change keep their contexts and vectors.
    """
    found = Estimate(documents=len(prepared), chunks=sum(len(each.chunks) for each in prepared))
    if claude is not None:
        found = _with_contexts(found, prepared, claude)
    if voyage is not None:
        texts = sum(estimated_tokens(chunk.contextual_text) for each in prepared for chunk in each.chunks)
        answers = _ANSWER * found.chunks if claude is not None else 0
        tokens = texts * (1 + windows) + answers
        cost = tokens * voyage.price / 1_000_000
        found = replace(found, embedding_tokens=tokens, embedder=voyage.model, dollars=round(found.dollars + cost, 6))
    return found


def scaled(expected: Estimate, documents: int) -> Estimate:
    """The cost of so many documents like those of an estimate, one or more."""
    factor = documents / max(expected.documents, 1)
    return replace(
        expected,
        documents=documents,
        chunks=round(expected.chunks * factor),
        input_tokens=round(expected.input_tokens * factor),
        cache_write_tokens=round(expected.cache_write_tokens * factor),
        cache_read_tokens=round(expected.cache_read_tokens * factor),
        output_tokens=round(expected.output_tokens * factor),
        embedding_tokens=round(expected.embedding_tokens * factor),
        dollars=round(expected.dollars * factor, 6),
    )


def _with_contexts(found: Estimate, prepared: Sequence[PreparedDocument], settings: ClaudeSection) -> Estimate:
    plain = written = read = 0
    for each in prepared:
        for part in document_parts(each, settings.document_characters):
            before = estimated_tokens(SYSTEM) + estimated_tokens(part.text)
            plain += sum(estimated_tokens(each.chunks[number].chunk.text) + _AROUND for number in part.numbers)
            if before < settings.cache_minimum:  # too short to be cached: sent with every passage
                plain += before * len(part.numbers)
            else:
                written += before
                read += before * (len(part.numbers) - 1)
    tokens = Completion(
        text="",
        input_tokens=plain,
        cache_write_tokens=written,
        cache_read_tokens=read,
        output_tokens=found.chunks * _ANSWER,
    )
    return replace(
        found,
        input_tokens=plain,
        cache_write_tokens=written,
        cache_read_tokens=read,
        output_tokens=tokens.output_tokens,
        model=settings.model,
        prices_of=settings.prices_of,
        dollars=round(dollars(tokens, settings), 6),
    )
