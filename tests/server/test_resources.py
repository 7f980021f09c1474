"""MCP-7: resources, prompts, completions and change notifications, asked for by a real client."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)
from pydantic import SecretStr

from harry_mcp.app import App
from harry_mcp.domain.corrections import Lesson
from harry_mcp.domain.curation import ReviewAction
from harry_mcp.domain.documents import SourceDocument
from harry_mcp.server.resources import DOCUMENT, document_uri
from harry_mcp.server.server import build_server
from harry_mcp.settings import Settings, child_environment
from tests.console.served import TOKEN, served, with_database
from tests.http.test_replicas import client as over_http
from tests.loop.small_base import ANN, CURATOR, KEYS, filled, page

pytestmark = pytest.mark.promise("MCP-7")

TEMPLATE = ResourceTemplateReference(uri=DOCUMENT)
ANSWER = PromptReference(name="answer_with_citations")


async def text_at(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def completed(client: Client, ref: Any, name: str, value: str) -> list[str]:
    return (await client.complete(ref, {"name": name, "value": value})).completion.values


def topical(title: str, topic: str, source: str = "") -> SourceDocument:
    return SourceDocument(
        source=source or f"test:{title}", title=title, topic=topic, language="en", text=f"# {title}\n\nText of {title}."
    )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_document_is_read_by_its_id_and_by_its_title(app: App, settings: Settings, mode: str) -> None:
    odd = topical("a/b: 50 % ../ué?", "Odd")
    twins = [topical("Twin", "Twins", "test:one"), topical("Twin", "Twins", "test:two")]
    await filled(app, odd, *twins)
    await app.loop.review.act(ReviewAction.ARCHIVE, [page("Webhooks", "").id], CURATOR)
    async with Client(build_server(settings), mode=mode) as client:
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == DOCUMENT
        assert "Rotate an API key" in await text_at(client, document_uri(KEYS.id))
        assert "Rotate an API key" in await text_at(client, "kb://documents/API%20keys")
        assert "Text of a/b" in await text_at(client, document_uri(odd.title))
        with pytest.raises(MCPError, match="Several documents are titled"):
            await text_at(client, document_uri("Twin"))
        assert "Text of Twin" in await text_at(client, document_uri(twins[0].id))
        for unseen in ("Webhooks", "no such thing", page("Webhooks", "").id):
            with pytest.raises(MCPError, match="There is no document"):
                await text_at(client, document_uri(unseen))
        listed = {str(each.uri): each.title for each in (await client.list_resources()).resources}
        assert listed[document_uri(KEYS.id)] == "API keys"
        assert document_uri(page("Webhooks", "").id) not in listed
        assert {"kb://corrections", "kb://digest"} <= set(listed)
        assert "airspeed" not in await text_at(client, "kb://digest")
        assert "waits" in await text_at(client, "kb://digest")


# What names no document, and the beginning of what is said of it.
UNKNOWN = [
    ("kb://documents/Nope", "There is no document 'Nope'"),
    ("kb://documents/", "There is no document"),
    ("kb://documents", "Unknown resource"),
    ("kb://documents/a/b", "Unknown resource"),
    ("kb://documents/API keys/", "Unknown resource"),
    ("kb://documents/API%20keys?page=1", "Unknown resource"),
    ("kb://documents/%00", "There is no document"),
    ("kb://documents/API%00keys\u0000", "There is no document"),
    ("kb://documents/%ZZ%", "There is no document '%ZZ%'"),
    ("kb://documents/%FF%C3", "There is no document"),
    ("kb://documents/..%2Fcorrections", "There is no document '../corrections'"),
    ("kb://documents/Twin", "Several documents are titled 'Twin'"),
    (f"kb://documents/{'x' * 20_000}", "There is no document 'xxx"),
    ("kb://nothing", "Unknown resource"),
    ("not an address", "Unknown resource"),
    ("", "Unknown resource"),
]


async def refused_as_they_should_be(client: Client) -> None:
    for uri, words in UNKNOWN:
        with pytest.raises(MCPError, match=f"^{re.escape(words)}") as refused:
            await client.read_resource(uri)
        assert (refused.value.error.code, refused.value.error.data) == (INVALID_PARAMS, {"uri": uri})
        assert len(refused.value.error.message) < 250
    assert "Rotate an API key" in await text_at(client, "kb://documents/%41PI%20keys")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_is_not_there_is_a_fault_of_the_request_on_every_way(
    app: App, settings: Settings, tmp_path: Path, mode: str
) -> None:
    await filled(app, topical("Twin", "Twins", "test:one"), topical("Twin", "Twins", "test:two"))
    async with Client(build_server(settings), mode=mode) as client:
        await refused_as_they_should_be(client)
    environment = with_database(settings)
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "harry_mcp.cli.main", "serve"], env=child_environment(**environment)
    )
    async with Client(command, mode=mode) as client:
        await refused_as_they_should_be(client)
    with served(tmp_path, **environment) as server:
        async with over_http(server.base, mode, token=TOKEN) as client:
            await refused_as_they_should_be(client)


async def test_a_database_that_is_away_is_a_fault_of_the_server(settings: Settings) -> None:
    nowhere = settings.model_copy(update={"database_url": SecretStr("postgresql://nobody@127.0.0.1:9/none")})
    async with Client(build_server(nowhere)) as client:
        for uri in ("kb://documents/Nope", "kb://corrections", "kb://digest"):
            with pytest.raises(MCPError, match="PostgreSQL cannot be reached") as refused:
                await client.read_resource(uri)
            assert refused.value.error.code == INTERNAL_ERROR


async def test_titles_topics_and_tabs_are_completed(app: App, settings: Settings) -> None:
    many = [topical(f"Guide {number:03}", "Guides") for number in range(103)]
    twins = [topical("Twin", "Twins", "test:one"), topical("Twin", "Twins", "test:two")]
    await filled(app, topical("About guides", "CRM > Contacts"), *twins, *many)
    await app.loop.review.act(ReviewAction.ARCHIVE, [page("Webhooks", "").id], CURATOR)
    async with Client(build_server(settings)) as client:
        assert await completed(client, TEMPLATE, "document", "api k") == ["API keys"]
        guides = (await client.complete(TEMPLATE, {"name": "document", "value": "guide"})).completion
        assert (len(guides.values), guides.total, guides.has_more) == (100, 104, True)
        assert guides.values[0] == "Guide 000"
        assert await completed(client, TEMPLATE, "document", "t guides") == ["About guides"]
        assert await completed(client, TEMPLATE, "document", "webh") == []
        assert await completed(client, TEMPLATE, "document", "Twi") == [min(twin.id for twin in twins)]
        assert await completed(client, TEMPLATE, "document", "100%_\\'\u0000") == []
        assert await completed(client, ANSWER, "topic", "contacts") == ["CRM > Contacts"]
        assert await completed(client, ANSWER, "topic", "") == ["Guides", "Twins", "CRM > Contacts"]
        assert await completed(client, ANSWER, "question", "how") == []
        curate = PromptReference(name="curate_queue")
        assert await completed(client, curate, "tab", "") == ["flagged", "pending", "archived", "recent"]
        assert await completed(client, curate, "tab", "P") == ["pending"]
        # What was completed can be used
        chosen = await completed(client, TEMPLATE, "document", "Guide 05")
        assert "Text of Guide 050" in await text_at(client, document_uri(chosen[0]))
        prompt = await client.get_prompt("answer_with_citations", {"question": "How?", "topic": "Guides"})
        content = prompt.messages[0].content
        assert isinstance(content, TextContent)
        assert "and the topic 'Guides'" in content.text


async def test_a_curator_gets_the_queue_and_a_reader_neither_prompt_nor_digest(app: App, settings: Settings) -> None:
    await filled(app)
    await app.loop.review.act(ReviewAction.ARCHIVE, [page("Webhooks", "").id], CURATOR)
    async with Client(build_server(settings)) as client:
        prompt = await client.get_prompt("curate_queue", {"tab": "archived"})
        content = prompt.messages[0].content
        assert isinstance(content, TextContent)
        assert "Webhooks" in content.text
        assert "Do nothing before I said yes" in content.text
    async with Client(build_server(settings.model_copy(update={"role": "reader"}))) as client:
        assert [each.name for each in (await client.list_prompts()).prompts] == ["answer_with_citations"]
        assert "kb://digest" not in {str(each.uri) for each in (await client.list_resources()).resources}
        with pytest.raises(MCPError):
            await client.read_resource("kb://digest")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_prompt_that_cannot_be_made_is_refused_in_words_that_say_why(settings: Settings, mode: str) -> None:
    nowhere = settings.model_copy(update={"database_url": SecretStr("postgresql://nobody@127.0.0.1:9/none")})
    async with Client(build_server(nowhere), mode=mode) as client:
        for name, arguments, code, words in [
            ("no_such_prompt", {}, INVALID_PARAMS, "Unknown prompt: no_such_prompt"),
            ("answer_with_citations", {}, INVALID_PARAMS, "question is missing. The question, standing alone."),
            ("answer_with_citations", {"ask": "How?"}, INVALID_PARAMS, "has no argument 'ask'. It takes: question, "),
            ("curate_queue", {"tab": "everything"}, INVALID_PARAMS, "tab cannot be used: Input should be 'flagged'"),
            ("curate_queue", {}, INTERNAL_ERROR, "PostgreSQL cannot be reached"),
        ]:
            with pytest.raises(MCPError, match=re.escape(words)) as refused:
                await client.get_prompt(name, arguments)
            assert refused.value.error.code == code


async def test_who_listens_is_told_what_others_changed(app: App, settings: Settings) -> None:
    """The changes are made by another process's app: any replica tells its own clients."""
    await filled(app)
    seen: list[object] = []

    async def until(*events: object) -> None:
        async with asyncio.timeout(30):
            async for event in listening:
                seen.append(event)
                if all(wanted in seen for wanted in events):
                    return

    async with (
        Client(build_server(settings)) as client,
        client.listen(
            resources_list_changed=True,
            resource_subscriptions=["kb://corrections", "kb://digest", document_uri(KEYS.id)],
        ) as listening,
    ):
        await client.list_tools()
        await client.call_tool("search_kb", {"query": "anything"})  # the app is open, and the watch has its first look
        changes = asyncio.create_task(
            until(ResourceUpdated("kb://corrections"), ResourceUpdated(document_uri(KEYS.id)))
        )
        while not changes.done():
            lesson = Lesson(
                topic="", wrong="It is red.", truth="It is blue.", line=f"The door {len(seen)} is blue and not red."
            )
            await app.loop.submit_correction(lesson, ANN)
            new = KEYS.text + f"\n\nChanged after {len(seen)} events."
            await app.ingester.ingest([SourceDocument(**{**_fields(KEYS), "text": new})])
            await asyncio.wait([changes], timeout=3)
        await changes
    assert ResourcesListChanged() in seen
    assert ResourceUpdated("kb://digest") in seen
    assert ResourceUpdated(document_uri(page("Invoices", "").id)) not in seen


def _fields(document: SourceDocument) -> dict[str, Any]:
    return {
        "source": document.source,
        "title": document.title,
        "url": document.url,
        "language": document.language,
        "text": document.text,
    }


async def test_over_a_pipe_it_is_the_same(app: App, settings: Settings) -> None:
    await filled(app)
    command = [sys.executable, "-m", "harry_mcp.cli.main", "serve"]
    environment = child_environment(HARRY_DATABASE_URL=settings.database_url.get_secret_value())
    server = StdioServerParameters(command=command[0], args=command[1:], env=environment)
    async with Client(server) as client:
        assert await completed(client, TEMPLATE, "document", "api") == ["API keys"]
        assert "Rotate" in await text_at(client, "kb://documents/API%20keys")
        async with client.listen(resources_list_changed=True) as listening:
            told = asyncio.create_task(anext(aiter(listening)))
            number = 0
            while not told.done():
                number += 1
                await app.ingester.ingest([page("Fresh", f"A fresh page, written {number} times.")])
                await asyncio.wait([told], timeout=3)
            assert await told == ResourcesListChanged()
