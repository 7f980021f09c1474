"""CUR-7: any sequence of actions and undos leaves what the sequence without the undone ones would have left."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.curation import ReviewAction
from harry_mcp.errors import NotFoundError
from harry_mcp.stages.curate.flag import RotSignal
from harry_mcp.storage.embedded import EmbeddedPostgres
from tests.curate.worlds import NEW_TEXTS, Done, World, world


@dataclass(frozen=True)
class Act:
    action: ReviewAction
    documents: tuple[int, ...]
    text: int


@dataclass(frozen=True)
class Undo:
    """Of the actions that stand, counted from the last."""

    which: int


@dataclass(frozen=True)
class Flag:
    document: int
    signal: RotSignal


@dataclass(frozen=True)
class Ingest:
    """Reading a document again; text -1 is what it says already."""

    document: int
    text: int


@dataclass(frozen=True)
class Remove:
    """Removing a document for good; its source brings it back."""

    document: int


Other = Flag | Ingest | Remove
Step = Act | Undo | Other
DOCUMENT = st.integers(0, 2)
ACTIONS = [action for action in ReviewAction if action is not ReviewAction.UNDO]
ACT = st.builds(
    Act,
    st.sampled_from(ACTIONS),
    st.lists(DOCUMENT, min_size=1, max_size=3, unique=True).map(tuple),
    st.integers(0, len(NEW_TEXTS) - 1),
)
UNDO = st.builds(Undo, st.sampled_from([0, 0, 0, 1, 2]))
FLAG = st.builds(Flag, DOCUMENT, st.sampled_from(RotSignal))
INGEST = st.builds(Ingest, DOCUMENT, st.integers(-1, len(NEW_TEXTS) - 1))
REMOVE = st.builds(Remove, DOCUMENT)
# Undos and actions are as likely; what others do is rarer, and removing for good rarest.
KINDS = [*[ACT] * 4, *[UNDO] * 4, FLAG, INGEST, INGEST, REMOVE]
STEPS = st.lists(st.sampled_from(KINDS).flatmap(lambda kind: kind), min_size=2, max_size=12)


async def happens(world: World, steps: list[Step]) -> list[Done | Other]:
    """Let all of it happen; what of it stands in the end."""
    await world.begin()
    standing: list[Done | Other] = []
    for step in steps:
        match step:
            case Act():
                done = await world.act(step.action, [world.ids[n] for n in step.documents], NEW_TEXTS[step.text])
                standing += [done] if done else []
            case Undo():
                actions = [each for each in standing if isinstance(each, Done)]
                if len(actions) > step.which:
                    chosen = actions[-1 - step.which]
                    if await world.undo(chosen):
                        standing.remove(chosen)
            case Flag() | Ingest() | Remove():
                await other(world, step)
                standing.append(step)
    return standing


async def other(world: World, step: Other) -> None:
    key = world.ids[step.document]
    match step:
        case Flag():
            with suppress(NotFoundError):  # it was removed
                await world.flag(key, step.signal)
        case Ingest():
            await world.ingest(key, NEW_TEXTS[step.text] if step.text >= 0 else "")
        case Remove():
            await world.remove(key)


async def happens_without(world: World, standing: list[Done | Other]) -> None:
    await world.begin()
    for step in standing:
        if isinstance(step, Done):
            again = await world.act(step.action, step.ids, step.text)
            assert again
            assert again.ids == step.ids
        else:
            await other(world, step)


async def compare(one: World, two: World, steps: list[Step]) -> None:
    await happens_without(two, await happens(one, steps))
    tables = await two.tables()
    for name, found in (await one.tables()).items():
        assert found == tables[name], name
    assert await one.answers() == await two.answers()


async def opened(stack: AsyncExitStack, dsn: str, template: str) -> list[World]:
    return [await stack.enter_async_context(world(dsn, template, f"world_{name}")) for name in ("one", "two")]


@pytest.mark.promise("CUR-7")
def test_what_was_undone_never_happened(postgres: EmbeddedPostgres, template: str) -> None:
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:
        try:
            one, two = runner.run(opened(stack, postgres.dsn, template))

            @settings(max_examples=40, deadline=None)
            @given(STEPS)
            def holds(steps: list[Step]) -> None:
                runner.run(compare(one, two, steps))

            holds()
        finally:
            runner.run(stack.aclose())
