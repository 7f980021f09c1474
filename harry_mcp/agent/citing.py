"""Citations held against what tools returned, while the text still streams.

An address that no tool returned is dropped and reported, and so is a number that no source has. Text is passed on as
soon as no citation can be in the making, so that what a person sees needs no taking back.
"""

from __future__ import annotations

import re

from harry_mcp.agent.sources import ADDRESS, Source, Sources, trimmed
from harry_mcp.domain.plain import visible

# [text](target) and the sequence of numbers that we ask for: [1], [1, 2].
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(\s*<?([^()\s<>]*(?:\([^()\s<>]*\)[^()\s<>]*)*)>?(?:\s+[^()\n]*)?\)")
# Inline code first, so that an index in it is no citation.
_NUMBERS = re.compile(r"(?P<code>`+[^`\n]*`+)|(?P<word>\w?)\[(?P<numbers>\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?!\()")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_LONGEST_HELD = 600
_AUTO = re.compile(rf"<({ADDRESS.pattern})>", re.IGNORECASE)


class CitationFilter:
    """Takes the model's text in pieces and gives back what may be shown."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._held = ""
        self._in_code = False
        self.cited: dict[int, Source] = {}
        self.dropped: list[str] = []

    def copy(self) -> CitationFilter:
        """The filter as it is now, to come back to."""
        made = CitationFilter(self._sources)
        made._held, made._in_code = self._held, self._in_code
        made.cited, made.dropped = dict(self.cited), list(self.dropped)
        return made

    def feed(self, piece: str) -> str:
        """More text; what may be shown of it now."""
        self._held += piece
        cut = self._safe()
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._checked(ready)

    def finish(self) -> str:
        """The rest."""
        ready, self._held = self._held, ""
        return self._checked(ready)

    def _safe(self) -> int:
        """Up to where nothing is half said: whole words, and no link that is still open."""
        text = self._held
        cut = max(text.rfind(" "), text.rfind("\n")) + 1
        tail = text[cut:]
        if "://" not in tail and "www." not in tail.lower():  # scripts without spaces need not wait for one
            cut += max((place + 1 for place, letter in enumerate(tail) if not letter.isascii()), default=0)
        opened = text.rfind("[", 0, cut)
        if opened >= 0 and len(text) - opened < _LONGEST_HELD and "\n" not in text[opened:cut]:
            closed = text.find("]", opened)
            if (
                not 0 <= closed < cut
                or closed + 1 >= len(text)
                or (text[closed + 1] == "(" and ")" not in text[closed:cut])
            ):
                cut = opened
        if not cut and len(text) > _LONGEST_HELD:
            return len(text)
        return cut

    def _checked(self, text: str) -> str:
        if not text:
            return ""
        return "".join(self._line(line) for line in text.splitlines(keepends=True))

    def _line(self, line: str) -> str:
        ends = len(line) - len(line.rstrip("\n"))
        shown, end = (line[:-ends], line[-ends:]) if ends else (line, "")
        if _FENCE.match(shown):
            self._in_code = not self._in_code
        shown = _clean(shown)
        shown = _LINK.sub(self._link, shown)
        if not self._in_code:
            shown = _NUMBERS.sub(self._numbers, shown)
        shown = _AUTO.sub(lambda found: self._address(found[1]), shown)
        return ADDRESS.sub(self._bare, shown) + end

    def _link(self, found: re.Match[str]) -> str:
        label, target = found[1], found[2]
        if not ADDRESS.match(target) and not target.startswith("//"):
            return found[0]
        if self._allowed(target):
            return found[0]
        return label

    def _bare(self, found: re.Match[str]) -> str:
        address = trimmed(found.group())
        rest = found.group()[len(address) :]
        return self._address(address) + rest

    def _address(self, address: str) -> str:
        return address if self._allowed(address) else "(address removed)"

    def _allowed(self, address: str) -> bool:
        if source := self._sources.by_address(address):
            self.cited[source.number] = source
            return True
        if self._sources.allows(address):
            return True
        if address not in self.dropped:
            self.dropped.append(address)
        return False

    def _numbers(self, found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        kept: list[str] = []
        for number in (int(each) for each in re.findall(r"\d+", found["numbers"])):
            source = self._sources.numbered(number)
            if source is not None:
                self.cited[number] = source
                kept.append(str(number))
            elif found["word"]:
                return found[0]  # an index, as in argv[0]
            elif f"[{number}]" not in self.dropped:
                self.dropped.append(f"[{number}]")
        return found["word"] + (f"[{', '.join(kept)}]" if kept else "")


def _clean(text: str) -> str:
    """Without what does not show, the terminal's escapes among it; spaces at the ends stay."""
    head = text[: len(text) - len(text.lstrip(" \t"))]
    tail = text[len(text.rstrip(" \t")) :] if text.strip() else ""
    return head + visible(text.strip(" \t")) + tail if text.strip() else text
