"""What passages and corrections say of a claim, judged by their words and their nearness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harry_mcp.domain.checks import ClaimVerdict, Finding, Quote
from harry_mcp.domain.claims import NOTHING_KNOWN, ClaimRules, Stance, weigh
from harry_mcp.domain.corrections import Correction
from harry_mcp.domain.differences import Vocabulary
from harry_mcp.domain.differences.reading import read
from harry_mcp.domain.plain import one_line
from harry_mcp.domain.search import Hit
from harry_mcp.domain.sentences import sentences
from harry_mcp.settings import ClaimSection
from harry_mcp.stages.verify.spoken import around as words_around
from harry_mcp.stages.verify.spoken import keys, leans, question_of, said_wrong, together

# What is longer is a wide table or code without a fence: it holds the words of a claim by chance.
_LONGEST = 500
_LONGEST_QUOTE = 700
_LONGEST_REASON = 120
_NEAR_QUOTES = 2
# What is less like the claim than this speaks of something else.
_NEAR_COSINE = 0.4
OTHERWISE = "Another passage says otherwise; both are quoted."
_CORRECTED = "Documents still say what a correction says is wrong."
_VERDICTS = {Stance.SUPPORTS: ClaimVerdict.SUPPORTED, Stance.CONTRADICTS: ClaimVerdict.CONTRADICTED}


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a passage. ``plain`` is without markup, ``context`` what it stands under."""

    text: str
    plain: str
    context: str
    hit: Hit


@dataclass(frozen=True, slots=True)
class Judged:
    """A quote with how strongly it speaks, 0 to 1."""

    quote: Quote
    strength: float


def rules_of(settings: ClaimSection) -> ClaimRules:
    """The settings that decide when a sentence speaks for or against a claim."""
    return ClaimRules(
        support_words=settings.support_words,
        support_cosine=settings.support_cosine,
        contradict_words=settings.contradict_words,
        contradict_cosine=settings.contradict_cosine,
    )


def shortlist(claim: str, hits: Sequence[Hit], most: int) -> list[Statement]:
    """The sentences of some passages that share most words with a claim, each once."""
    found: dict[str, tuple[float, Statement]] = {}
    for hit in hits:
        context = " > ".join((hit.passage.title, *hit.passage.heading_path))
        for sentence in sentences(hit.text):
            if len(sentence.plain) > _LONGEST:
                continue
            shared = _shared(claim, sentence.plain)
            found.setdefault(sentence.plain, (shared, Statement(sentence.text, sentence.plain, context, hit)))
    ranked = sorted(found.values(), key=lambda item: (-item[0], item[1].hit.rank))
    return [statement for shared, statement in ranked[:most] if shared > 0]


def weigh_statement(
    claim: str,
    statement: Statement,
    cosine: float | None,
    rules: ClaimRules,
    vocabulary: Vocabulary = NOTHING_KNOWN,
) -> Judged:
    """What one sentence says of a claim. Without a cosine every word of the claim must be in it."""
    if cosine is None:
        rules, cosine = replace(rules, support_words=1.0, contradict_words=1.0), 1.0
    weighed = weigh(claim, statement.plain, cosine, rules, context=statement.context, vocabulary=vocabulary)
    return Judged(_quote(statement, weighed.stance, weighed.differs, cosine), weighed.covered * cosine)


def weigh_correction(
    claim: str,
    correction: Correction,
    cosines: Mapping[str, float],
    rules: ClaimRules,
    vocabulary: Vocabulary = NOTHING_KNOWN,
) -> Judged | None:
    """What a correction says of a claim; None when it says nothing of it.

    ``cosines`` are those of the claim with the texts of the correction. A claim that repeats what was wrong, or that
    what is true denies, is contradicted; one that says what is true is supported. One that leans on its question is
    read behind it, and then every word of the claim must be accounted for.
    """
    question = ""
    if leans(correction):
        question = question_of(claim, correction, vocabulary)
        if not question:
            return None
        rules = replace(rules, support_words=1.0, contradict_words=1.0)
    truth, wrong, line = correction.truth, said_wrong(correction), correction.lesson
    texts = (correction.truth, correction.wrong, line, *([together(question, correction)] if question else []))
    cosine = max(cosines[text] for text in texts)
    told_apart = keys(truth) ^ keys(wrong)
    # Subject and object may stand in the lesson only; what tells true from wrong never counts as said by it.
    around = " ".join(word.surface for word in read(f"{correction.topic} {line}").words if word.key not in told_apart)
    asked = words_around(question, told_apart=told_apart)
    around, topic = f"{around} {asked}", f"{correction.topic} {asked}"
    by_truth = weigh(claim, truth, cosine, rules, context=around)
    by_wrong = weigh(claim, wrong, cosine, rules, context=around)
    by_line = weigh(claim, line, cosine, rules, context=topic)
    stance, differs, covered = Stance.NEAR, "", max(by_truth.covered, by_wrong.covered, by_line.covered)
    says_so = by_truth.stance is Stance.SUPPORTS and _touches(claim, truth, wrong)
    repeats = by_wrong.stance is Stance.SUPPORTS and _touches(claim, wrong, truth)
    learnt = by_line.stance is Stance.SUPPORTS and _shared(claim, line) > _shared(claim, wrong)
    if learnt or (says_so and not repeats):
        stance = Stance.SUPPORTS
    elif (repeats and not says_so) or by_truth.stance is Stance.CONTRADICTS:
        stance, differs = Stance.CONTRADICTS, by_truth.differs or "a correction says that this is wrong"
    elif by_line.stance is Stance.CONTRADICTS and not keys(line) & (keys(wrong) - keys(truth)):
        stance, differs = by_line.stance, by_line.differs
    return Judged(correction_quote(correction, stance, differs, cosine), covered * cosine) if covered else None


def _shared(claim: str, text: str) -> float:
    """The share of a claim's words that a text has itself."""
    wanted = keys(claim)
    return len(wanted & keys(text)) / max(1, len(wanted))


def _touches(claim: str, text: str, other: str) -> bool:
    """Whether a claim has anything of what tells a text from another one; what both share was never in question."""
    wanted, own = keys(claim), keys(text) - keys(other)
    return bool(wanted & own) if own else not wanted & (keys(other) - keys(text))


def correction_quote(correction: Correction, stance: Stance, differs: str, cosine: float) -> Quote:
    """A correction as a quote: what it says is true."""
    return Quote(
        stance=stance,
        text=_cut(f"{correction.lesson} (True: {correction.truth})"),
        title=f"Correction {correction.id}",
        url=correction.source_url,
        source="",
        updated_at=correction.created_at,
        differs=differs,
        similarity=cosine,
        correction_id=correction.id,
    )


def judge(passages: Sequence[Judged], corrections: Sequence[Judged], *, most: int) -> Finding:
    """The verdict over all that was weighed.

    Corrections outrank documents, and the newest of them the others. Where documents disagree the strongest sentence
    decides: one in the words of the claim, before one that is only like it.
    """
    spoken = sorted(
        (item for item in corrections if item.quote.stance is not Stance.NEAR),
        key=lambda item: item.quote.updated_at,
        reverse=True,
    )
    ranked = sorted(passages, key=lambda item: -item.strength)
    by_stance = {stance: [item.quote for item in ranked if item.quote.stance is stance] for stance in Stance}
    said = list(dict.fromkeys(item.quote.stance for item in ranked if item.quote.stance is not Stance.NEAR))
    if spoken:
        stance = spoken[0].quote.stance
        own = [item.quote for item in spoken if item.quote.stance is stance]
        against = [quote for other in said if other is not stance for quote in by_stance[other]]
        quotes = [*own, *by_stance[stance], *against[:1]]
        return Finding(
            verdict=_VERDICTS[stance],
            reason=_because(own[0], stance),
            quotes=tuple(quotes[:most]),
            caveats=(_CORRECTED,) if against and stance is Stance.CONTRADICTS else ((OTHERWISE,) if against else ()),
        )
    if not said:
        near = [quote for quote in by_stance[Stance.NEAR] if quote.similarity >= _NEAR_COSINE]
        return Finding(
            verdict=ClaimVerdict.NOT_COVERED,
            reason="No passage says it, and none says the opposite."
            + (" The nearest ones are quoted." if near else ""),
            quotes=tuple(near[: min(most, _NEAR_QUOTES)]),
        )
    stance = said[0]
    against = by_stance[said[1]] if len(said) > 1 else []
    quotes = [*by_stance[stance][: max(1, most - len(against[:1]))], *against[:1]]
    return Finding(
        verdict=_VERDICTS[stance],
        reason=_because(by_stance[stance][0], stance),
        quotes=tuple(quotes[:most]),
        caveats=(OTHERWISE,) if against else (),
    )


def quoted(text: str, hit: Hit, stance: Stance, differs: str = "") -> Quote:
    """Words of a passage as a quote."""
    return _quote(Statement(text, text, "", hit), stance, differs, 0.0)


def _because(quote: Quote, stance: Stance) -> str:
    """Why, without words of documents: a reason stands outside of any fence."""
    who = "A correction" if quote.correction_id else "The first quote"
    if stance is Stance.SUPPORTS:
        return f"{who} says so."
    return f"{who} says otherwise" + (f" ({one_line(quote.differs, _LONGEST_REASON)})." if quote.differs else ".")


def _quote(statement: Statement, stance: Stance, differs: str, cosine: float) -> Quote:
    passage = statement.hit.passage
    return Quote(
        stance=stance,
        text=_cut(statement.text),
        title=passage.title,
        url=passage.url,
        source=passage.source,
        updated_at=passage.updated_at,
        differs=differs,
        similarity=cosine,
        heading=" > ".join(passage.heading_path),
        document_id=passage.document_id,
        chunk_id=statement.hit.chunk_ids[0],
        caveats=statement.hit.caveats,
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1].rstrip() + "…"
