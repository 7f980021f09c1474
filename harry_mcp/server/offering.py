"""What a server offers beside its tools: resources, prompts, and completions for their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcp.server.mcpserver.resources import ResourceSecurity
from mcp_types import Completion, CompletionArgument, PromptReference, ResourceTemplateReference
from mcp_types import Resource as WireResource

from harry_mcp.domain.people import Role
from harry_mcp.server import completing, prompts, resources
from harry_mcp.server.state import ServerState

if TYPE_CHECKING:
    from harry_mcp.server.server import HarryServer


# What is not for everybody: the role that it takes.
RESOURCE_ROLES: Mapping[str, Role] = MappingProxyType({resources.DIGEST: Role.CURATOR})
PROMPT_ROLES: Mapping[str, Role] = MappingProxyType({prompts.curate_queue.__name__: Role.CURATOR})


def offer(server: HarryServer, state: Callable[[], ServerState]) -> None:
    """Register all of it; what a caller sees is for its role to say. ``state`` gives the state of the running server:
    what is read without a template, and what is completed, is given no context by the SDK."""

    async def corrections() -> str:
        return await resources.corrections(state())

    async def digest() -> str:
        return await resources.digest(state())

    async def document(document: str) -> str:
        return await resources.document(state(), document)

    async def latest() -> list[WireResource]:
        return await resources.latest(state())

    async def complete(
        ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, _: object
    ) -> Completion | None:
        return await completing.complete(state(), ref, argument)

    server.resource(
        resources.CORRECTIONS, title=resources.TITLE, description=resources.DESCRIPTION, mime_type="text/plain"
    )(corrections)
    server.resource(
        resources.DOCUMENT,
        title=resources.DOCUMENT_TITLE,
        description=resources.DOCUMENT_DESCRIPTION,
        mime_type="text/markdown",
        # A title may look like a path; no file is ever opened by it.
        security=ResourceSecurity(exempt_params={"document"}),
    )(document)
    server.more_resources = latest
    server.prompt(title=prompts.TITLE, description=prompts.DESCRIPTION)(prompts.answer_with_citations)
    server.resource(
        resources.DIGEST,
        title=resources.DIGEST_TITLE,
        description=resources.DIGEST_DESCRIPTION,
        mime_type="text/plain",
    )(digest)
    server.prompt(title=prompts.CURATE_TITLE, description=prompts.CURATE_DESCRIPTION)(prompts.curate_queue)
    server.completion()(complete)
