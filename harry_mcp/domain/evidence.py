"""What a signal of the curation log says, in a sentence for a curator, and the passages that it shows side by side.

The text of documents and people is in it: whoever shows it fences or escapes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from harry_mcp.domain.alignment import statements
from harry_mcp.domain.curation import PassagePair, Signal
from harry_mcp.domain.plain import sanitised
from harry_mcp.domain.rot import RotSignal

_LONGEST = 400
LONGEST_PASSAGE = 600
"""Characters that the log keeps of a statement."""
_QUESTIONS = 3
_DRAFT = "draft"


def why(signal: Signal, *, limit: int = _LONGEST) -> str:
    """What speaks against the document, or where a draft came from."""
    words = _WORDS.get(signal.signal, _anything)(signal.detail)
    return sanitised(" ".join(words.split()), limit) or signal.signal


def passage_pairs(signals: Sequence[Signal]) -> list[PassagePair]:
    """The passages that signals show, those of the open ones first; ``after`` is this document's where two disagree."""
    found: list[PassagePair] = []
    for signal in sorted(signals, key=lambda each: each.settled):
        origin = _origin(signal.detail)
        for passage in _mappings(signal.detail.get("passages")):
            before, after = str(passage.get("before", "")), str(passage.get("after", ""))
            if signal.detail.get("side") == "before":
                before, after = after, before
            found.append(PassagePair(before, after, origin))
    return list(dict.fromkeys(found))


def still_says(detail: Mapping[str, Any], text: str) -> bool:
    """Whether a text has any of the statements of the other document that a signal rests on: those in which facts
    differ, else all that differ."""
    side = "before" if detail.get("side") == "after" else "after"
    passages = _mappings(detail.get("passages"))
    facts = detail.get("facts")
    told = [str(each.get(side, "")) for each in passages[: facts if isinstance(facts, int) and facts else None]]
    there = {statement[:LONGEST_PASSAGE] for statement in statements(text)}
    return any(each[:LONGEST_PASSAGE] in there for each in told if each)


def _origin(detail: Mapping[str, Any]) -> str:
    other = detail.get("other")
    if isinstance(other, Mapping):
        named = cast(Mapping[str, Any], other)
        return f"{named.get('title', '')} ({named.get('document_id', '')})"
    return f"version {detail['before_version']}" if "before_version" in detail else ""


def _contradiction(detail: Mapping[str, Any]) -> str:
    number = detail.get("facts")
    facts = f"{number} {'fact' if number == 1 else 'facts'} changed" if number else ""
    apart = f"the words differ by {detail['distance']}" if detail.get("distance") else ""
    how = ", ".join(part for part in (facts, apart) if part)
    differences = "; ".join(str(each) for each in _mappings_told(detail))
    told = f": {how}" if how else ""
    shown = f" ({differences})" if differences else ""
    if isinstance(detail.get("other"), Mapping):
        return f"it disagrees with {_origin(detail)}{told}{shown}"
    return f"it changed at its source, from {_origin(detail)}{told}{shown}"


def _mappings_told(detail: Mapping[str, Any]) -> list[object]:
    """In what passages differ, in words, as far as the log says."""
    return [each for passage in _mappings(detail.get("passages")) for each in _list(passage.get("differences"))][:3]


def _dead_source(detail: Mapping[str, Any]) -> str:
    answers = f"answers {detail['status']}" if detail.get("status") else "does not answer"
    where = f" and leads to {detail['location']}" if detail.get("location") else ""
    return f"{detail.get('url', 'its source')} {answers}{where} since {detail.get('since', 'lately')}"


def _negative_feedback(detail: Mapping[str, Any]) -> str:
    if "correction_id" in detail:
        return f"a correction says otherwise: {detail.get('comment', '')} ({detail['correction_id']})"
    comment = f": {detail['comment']}" if detail.get("comment") else ""
    return f"a user reported “{detail.get('reason', '')}”{comment} ({detail.get('feedback_id', 'feedback')})"


def _stale(detail: Mapping[str, Any]) -> str:
    asked = [str(each.get("question", "")) for each in _mappings(detail.get("questions"))][:_QUESTIONS]
    return f"unchanged since {detail.get('unchanged_since', 'long')}, and asked in vain: {'; '.join(asked)}"


def _draft(detail: Mapping[str, Any]) -> str:
    if "correction_id" in detail:
        return f"drafted from {detail['correction_id']}, reported by {detail.get('reporters', 1)} people"
    return f"drafted from a web page that answered: {detail.get('question', '')}"


def _anything(detail: Mapping[str, Any]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in detail.items())


_WORDS = {
    RotSignal.CONTRADICTION.value: _contradiction,
    RotSignal.DEAD_SOURCE.value: _dead_source,
    RotSignal.NEGATIVE_FEEDBACK.value: _negative_feedback,
    RotSignal.STALE.value: _stale,
    _DRAFT: _draft,
}


def _list(value: object) -> list[object]:
    return cast(list[object], value) if isinstance(value, list) else []


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [cast(Mapping[str, Any], each) for each in _list(value) if isinstance(each, Mapping)]
