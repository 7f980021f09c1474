"""Looking around in the knowledge base without asking a question: titles, topics, what is new, what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harry_mcp.errors import InputError
from harry_mcp.loop.healing import OnDatabase, healed
from harry_mcp.storage.catalogue import Named
from harry_mcp.storage.changes import Marks
from harry_mcp.storage.texts import storable

# Minutes that a transaction may take until others see what it wrote; longer ones are told of without their documents.
_LONGEST_WRITE = 15
# More changed documents than these are told of as one change of the list.
_MOST_DOCUMENTS = 200


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The first values that fit, and how many do."""

    values: Sequence[str]
    total: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment, to see later what changed since."""

    marks: Marks
    versions: frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed. ``documents`` may be empty although ``index`` is set: there were too many, or some went."""

    index: bool = False
    curation: bool = False
    corrections: bool = False
    documents: Sequence[str] = ()


class BrowseFlow(OnDatabase):
    """Reads the catalogue."""

    @healed
    async def titles(self, letters: str, *, limit: int) -> Suggestions:
        """Titles of documents that hold some letters; where several documents share one, an id stands for it."""
        async with self._database.reading() as unit:
            found = await unit.catalogue.titles(storable(letters), limit=limit)
        values = [each.title if each.bearers == 1 else each.id for each in found]
        return Suggestions(values, found[0].total if found else 0)

    @healed
    async def topics(self, letters: str, *, limit: int) -> Suggestions:
        """Topics of documents that hold some letters."""
        async with self._database.reading() as unit:
            found = await unit.catalogue.topics(storable(letters), limit=limit)
        return Suggestions([each.topic for each in found], found[0].total if found else 0)

    @healed
    async def named(self, name: str) -> str:
        """What to read for a name: the id of the document of that title, else the name itself.

        Raises:
            InputError: several documents have that title.
        """
        async with self._database.reading() as unit:
            found = await unit.catalogue.titled(storable(name))
        if len(found) > 1:
            raise InputError(f"Several documents are titled {name[:100]!r}. Name one by its id, as search_kb shows it.")
        return found[0] if found else name

    @healed
    async def latest(self, limit: int) -> list[Named]:
        """The documents that readers see and that changed last."""
        async with self._database.reading() as unit:
            return await unit.catalogue.latest(limit)

    @healed
    async def mark(self) -> Mark:
        """Where things stand now."""
        async with self._database.reading() as unit:
            return Mark(await unit.changes.marks(), await unit.changes.recent(_LONGEST_WRITE))

    @healed
    async def since(self, before: Mark) -> tuple[Mark, Changed]:
        """Where things stand now, and what changed since a mark, through whatever process."""
        async with self._database.reading() as unit:
            marks = await unit.changes.marks()
            if marks == before.marks:
                return before, Changed()
            versions = await unit.changes.recent(_LONGEST_WRITE)
            spoken = await unit.changes.spoken_of(before.marks.log)
        documents = sorted({key for key, _ in versions - before.versions} | spoken)
        changed = Changed(
            index=marks.revision != before.marks.revision,
            curation=marks.log != before.marks.log,
            corrections=marks.corrections != before.marks.corrections,
            documents=documents if len(documents) <= _MOST_DOCUMENTS else (),
        )
        return Mark(marks, versions), changed
