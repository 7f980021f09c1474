"""Completions: what a person may be about to type as the argument of a prompt or a resource."""

from __future__ import annotations

from mcp_types import Completion, CompletionArgument, PromptReference, ResourceTemplateReference

from harry_mcp.errors import HarryError
from harry_mcp.server import prompts, resources
from harry_mcp.server.state import ServerState

# What the protocol allows in one answer.
_MOST = 100
_LONGEST = 200


async def complete(
    state: ServerState, ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument
) -> Completion | None:
    """Document titles, topics and the queue's tabs; None for what cannot be completed. A database that is down
    completes nothing: an error would only disturb who types."""
    letters = argument.value.strip()[:_LONGEST]
    if isinstance(ref, PromptReference) and (ref.name, argument.name) == (prompts.CURATE_NAME, "tab"):
        fitting = [tab for tab in prompts.TABS if tab.startswith(letters.lower())]
        return Completion(values=fitting, total=len(fitting), has_more=False)
    try:
        app = await state.app()
        if isinstance(ref, ResourceTemplateReference) and (ref.uri, argument.name) == (resources.DOCUMENT, "document"):
            found = await app.browse.titles(letters, limit=_MOST)
        elif isinstance(ref, PromptReference) and (ref.name, argument.name) == (prompts.ANSWER_NAME, "topic"):
            found = await app.browse.topics(letters, limit=_MOST)
        else:
            return None
    except HarryError:
        return None
    return Completion(values=list(found.values), total=found.total, has_more=found.total > len(found.values))
