"""What something will cost, and asking whether it may."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from harry_mcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harry_mcp.app import App
    from harry_mcp.ingest.estimating import Estimate
    from harry_mcp.ingest.preparing import PreparedDocument


def costs_money(app: App) -> bool:
    """Whether bringing documents in is paid for by the token."""
    return app.ingester.situator is not None or app.embedder.space.provider != "local"


def expected(app: App, prepared: Sequence[PreparedDocument]) -> Estimate:
    """What documents will cost with the providers of this app."""
    from harry_mcp.ingest.estimating import estimate

    s = app.settings
    return estimate(
        prepared,
        claude=s.claude if app.ingester.situator else None,
        voyage=s.voyage if app.embedder.space.provider == "voyage" else None,
        windows=s.ingest.semantic_neighbours + 1 if s.ingest.chunking == "semantic" else 0,
    )


def told(estimate: Estimate, size: str = "") -> str:
    """The estimate in a line or two; ``size`` says how much there is when it is not known to the document."""
    size = size or f"{estimate.documents} documents to write, {estimate.chunks} chunks."
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


def agree(dollars: float, limit: float, *, yes: bool) -> bool:
    """Go on under the limit, or when it was allowed; else ask. Whether somebody allowed it.

    Raises:
        InputError: nobody is there to ask, or the answer is no.
    """
    if yes or dollars < limit or not dollars:
        return yes
    cost = f"This will cost about ${dollars:.2f}, over the ${limit:.2f} of HARRY_INGEST__ASK_ABOVE."
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(f"{cost} Pass --yes to allow it, or --estimate to see how it is made up.")
    if not typer.confirm(f"{cost} Go on?", err=True):
        raise InputError("Stopped; nothing was sent.")
    return True
