"""A model writes an answer: bounded turns, bounded cost, and every citation checked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harry_mcp.agent.answers import Heard, Listener, Withdrawn
from harry_mcp.agent.citing import CitationFilter
from harry_mcp.agent.prompt import NOT_COVERED
from harry_mcp.agent.sources import Source, Sources
from harry_mcp.agent.toolbox import Toolbox
from harry_mcp.domain.chat import ChatMessage, ChatTurn, Replied, Returned, Said, Stop
from harry_mcp.errors import ProviderError
from harry_mcp.ports import ChatModel
from harry_mcp.settings import AgentSection

_GO_ON = "You were cut off. Go on exactly where you stopped, without repeating anything."


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What the model wrote. ``fault`` says why it is not to be used, or nothing."""

    text: str = ""
    cited: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()
    covered: bool = True
    fault: str = ""


class Writer:
    """One answer of one model."""

    def __init__(
        self,
        model: ChatModel,
        toolbox: Toolbox,
        sources: Sources,
        *,
        settings: AgentSection,
        listen: Listener,
        spent: Callable[[], float],
    ) -> None:
        """``spent``: dollars for this answer so far."""
        self._model = model
        self._toolbox = toolbox
        self._settings = settings
        self._listen = listen
        self._spent = spent
        self._until = time.monotonic() + settings.seconds
        self._voice = _Voice(sources, listen)
        self._notes: list[str] = []

    async def write(self, messages: Sequence[ChatMessage], system: Sequence[str]) -> Written:
        """The answer to the last message. A model that fails, loops or costs too much is told as a fault."""
        fault = ""
        try:
            fault = await self._turns(list(messages), system)
        except ProviderError as error:
            fault = f"The model failed: {error}"
        self._voice.end()
        checked = self._voice.checked
        if checked.dropped:
            shown = ", ".join(checked.dropped[:5])
            self._notes.append(f"Dropped from the answer, for no tool returned it: {shown}.")
        return Written(
            text=self._voice.text.strip(),
            cited=tuple(checked.cited.values()),
            notes=tuple(self._notes),
            covered=not self._voice.says_not_covered,
            fault=fault,
        )

    async def _turns(self, messages: list[ChatMessage], system: Sequence[str]) -> str:
        """Run turns until the model is done; why it did not come to an end, or nothing."""
        tools = await self._toolbox.offered()
        cut = 0
        for number in range(self._settings.turns):
            if self._settings.cost_cap and self._spent() >= self._settings.cost_cap:
                return f"The answer reached its cost cap of ${self._settings.cost_cap:.4g}."
            last = number == self._settings.turns - 1
            left = self._until - time.monotonic()
            if left <= 0:
                break
            turn = await self._model.turn(
                messages,
                system=system,
                tools=tools,
                may_call=not last,
                timeout=left,
                hear=self._voice.hear,
                start_over=self._voice.start_over,
            )
            match turn.stop:
                case Stop.END:
                    return "" if self._voice.spoke else "The model ended without an answer."
                case Stop.REFUSED:
                    return "The model refused to answer."
                case Stop.TOOLS:
                    # What is said on the way to a tool is no answer.
                    self._voice.forget()
                    messages += [Replied(turn), await self._returned(turn)]
                case Stop.CUT:
                    cut += 1
                    if not self._voice.spoke or cut > self._settings.continuations:
                        return self._cut_off()
                    messages += [Replied(turn), Said("user", _GO_ON)]
                    self._voice.keep()
        if time.monotonic() >= self._until:
            return f"The answer took longer than {self._settings.seconds:.3g} s."
        return self._cut_off() if cut else f"The model came to no answer in {self._settings.turns} turns."

    def _cut_off(self) -> str:
        if not self._voice.spoke:
            return "The model was cut off before it said anything; raise HARRY_AGENT__MAX_TOKENS."
        self._notes.append("The answer was cut off at its longest; raise HARRY_AGENT__MAX_TOKENS for more.")
        return ""

    async def _returned(self, turn: ChatTurn) -> Returned:
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                return Returned(tuple([await self._toolbox.run(call) for call in turn.calls]))
        except TimeoutError as error:
            raise ProviderError(f"its tools took longer than {self._settings.seconds:.3g} s.") from error


class _Voice:
    """What the model says, checked as it comes. What begins like the mark for "not covered" waits until it is not."""

    def __init__(self, sources: Sources, listen: Listener) -> None:
        self._listen = listen
        self._waiting = ""
        self._kept = ""
        self._shown = ""
        self._released = False
        self.checked = CitationFilter(sources)
        self._kept_checked = self.checked.copy()

    @property
    def text(self) -> str:
        return "" if self.says_not_covered else self._kept + self._shown

    @property
    def spoke(self) -> bool:
        return bool((self._kept + self._shown + self._waiting).strip())

    @property
    def says_not_covered(self) -> bool:
        return not self._released and self._waiting.strip(" \n`*.\"'").startswith(NOT_COVERED)

    def hear(self, piece: str) -> None:
        if self._released:
            self._show(self.checked.feed(piece))
            return
        self._waiting += piece
        bare = self._waiting.lstrip(" \n`*\"'")
        if not NOT_COVERED.startswith(bare[: len(NOT_COVERED)]):
            self._release()

    def end(self) -> None:
        """Nothing more comes."""
        if not self._released and not self.says_not_covered:
            self._release()
        if self._released:
            self._show(self.checked.finish())

    def keep(self) -> None:
        """What was said so far of this answer stands, should the next turn begin again."""
        self._kept, self._shown = self._kept + self._shown, ""
        self._kept_checked = self.checked.copy()

    def forget(self) -> None:
        """What was said so far of this turn is no part of the answer."""
        said = self._shown
        self._reset()
        if said.strip():
            self._listen(Withdrawn(""))
            if self._kept:
                self._listen(Heard(self._kept))

    def start_over(self) -> None:
        """The attempt broke off; what was said of this turn comes again."""
        said = self._shown
        self._reset()
        if said.strip():
            self._listen(Withdrawn("The line broke off; the model begins again."))
            if self._kept:
                self._listen(Heard(self._kept))

    def _reset(self) -> None:
        self._shown, self._waiting, self._released = "", "", bool(self._kept)
        self.checked = self._kept_checked.copy()

    def _release(self) -> None:
        self._released = True
        waiting, self._waiting = self._waiting, ""
        self._show(self.checked.feed(waiting))

    def _show(self, text: str) -> None:
        if text:
            self._shown += text
            self._listen(Heard(text))
