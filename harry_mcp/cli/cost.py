"""What something will cost, and asking whether it may."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from harry_mcp.errors import InputError

if TYPE_CHECKING:
    from harry_mcp.ingest.estimating import Estimate


def told(estimate: Estimate) -> str:
    """The estimate in a line or two."""
    size = f"{estimate.documents} documents to write, {estimate.chunks} chunks."
    if not estimate.model and not estimate.embedder:
        return f"{size} Nothing to pay: contexts come from the template and vectors from the local model."
    parts: list[str] = []
    if estimate.model:
        sent = estimate.input_tokens + estimate.cache_write_tokens
        parts.append(
            f"Contexts by {estimate.model}: about {sent:,} tokens sent, {estimate.cache_read_tokens:,} read from its "
            f"cache, {estimate.output_tokens:,} written, at the prices of {estimate.prices_of}."
        )
    if estimate.embedder:
        parts.append(f"Vectors by {estimate.embedder}: about {estimate.embedding_tokens:,} tokens.")
    return f"{size} {' '.join(parts)} About ${estimate.dollars:.2f} in all. Nothing was written."


def agree(dollars: float, limit: float, *, yes: bool) -> None:
    """Go on under the limit, or when it was allowed; else ask.

    Raises:
        InputError: nobody is there to ask, or the answer is no.
    """
    if yes or dollars < limit or not dollars:
        return
    cost = f"This will cost about ${dollars:.2f}, over the ${limit:.2f} of HARRY_INGEST__ASK_ABOVE."
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(f"{cost} Pass --yes to allow it, or --estimate to see how it is made up.")
    if not typer.confirm(f"{cost} Go on?", err=True):
        raise InputError("Stopped; nothing was sent.")
