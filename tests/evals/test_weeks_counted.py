"""EVL-2: what is drawn, how a reply is judged, and the figures by hand; nothing of it asks anything."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from harry_mcp.domain.search import Band
from harry_mcp.errors import EvalError
from harry_mcp.evals import gates
from harry_mcp.evals.golden import CorpusRow, GoldenSet, Question
from harry_mcp.evals.learning.figures import KNOWN, Kin, cases, figures, named
from harry_mcp.evals.learning.judging import By, Served, judged
from harry_mcp.evals.learning.library import Library
from harry_mcp.evals.learning.people import Says, says
from harry_mcp.evals.learning.rewording import Form, forms
from harry_mcp.evals.learning.schedule import Asking, Habits, schedule
from harry_mcp.evals.learning.weeks import Heard, Played
from tests.evals.golden_files import CORPUS, QUERIES

pytestmark = pytest.mark.promise("EVL-2")

LONG = (
    "Why does the export stop?\n\n"
    "We export all contacts every night. Since Monday it ends with error 504 after an hour."
)
WHOLE = GoldenSet(
    corpus=tuple(CorpusRow.model_validate(row) for row in CORPUS),
    questions=tuple(Question.model_validate(row) for row in QUERIES),
)
# Another question that the page of a1 answers.
KEYS = Question(id="a7", text="For how long does an old key work?", relevant_ids=("keys",))
LIBRARY = Library(
    WHOLE.model_copy(update={"questions": (*WHOLE.questions, KEYS)}),
    WHOLE.model_copy(update={"corpus": WHOLE.corpus[1:]}),
)
BY_ID = LIBRARY.by_id
OWN = frozenset({"own"})


def test_a_question_in_other_words_has_no_word_that_it_had_not() -> None:
    made = forms(LONG, "1")
    assert set(made) == set(Form)
    assert made[Form.TITLE] == "Why does the export stop?"
    assert made[Form.BODY].startswith("We export all contacts")
    assert made[Form.ORDER].endswith("Why does the export stop?")
    words: Counter[str] = Counter(LONG.split())
    assert Counter[str](made[Form.ORDER].split()) <= words
    assert Counter[str](made[Form.FEWER].split()) <= words
    assert len(made[Form.FEWER].split()) == round(0.7 * len(LONG.split()))
    mistyped = [(a, b) for a, b in zip(LONG.split(), made[Form.TYPOS].split(), strict=True) if a != b]
    assert 1 <= len(mistyped) <= 4
    assert all(sorted(a) == sorted(b) for a, b in mistyped)
    assert made == forms(LONG, "1")
    assert made != forms(LONG, "2")


@pytest.mark.parametrize("text", ["Keys?", "API keys", "a b c"])
def test_a_short_question_has_few_forms_and_none_twice(text: str) -> None:
    made = forms(text, "1")
    assert made[Form.WHOLE] == text
    assert len({re.sub(r"\s+", " ", each.casefold()) for each in made.values()}) == len(made)


def test_weeks_are_drawn_from_the_seed_alone_and_some_questions_far_more_often() -> None:
    habits = Habits(weeks=4, askings=100, skew=1.0)
    weeks = schedule(LIBRARY.questions, habits, seed=5, longest=400)
    assert weeks == schedule(LIBRARY.questions, habits, seed=5, longest=400)
    assert weeks != schedule(LIBRARY.questions, habits, seed=6, longest=400)
    askings = [each for week in weeks for each in week]
    assert [each.number for each in askings] == list(range(400))
    counts = Counter(each.question.id for each in askings)
    assert max(counts.values()) > 4 * min(counts.values())
    assert 0.4 < sum(each.form is Form.WHOLE for each in askings) / 400 < 0.75


@pytest.mark.parametrize(
    ("served", "right", "by"),
    [
        (Served(first="own", band=Band.STRONG, escalated=False), True, By.PAGE),
        (Served(first="own", band=Band.MODERATE, escalated=False), True, By.PAGE),
        # The page is there, and the agent does not answer from it.
        (Served(first="own", band=Band.WEAK, escalated=True), False, By.NOTHING),
        (Served(first="other", band=Band.STRONG, escalated=False), False, By.PAGE),
        (Served(first="other", band=Band.STRONG, escalated=False, told=("other", "own")), True, By.CORRECTION),
        (Served(first="", band=Band.WEAK, escalated=True, told=("own",)), True, By.CORRECTION),
        (Served(first="", band=Band.WEAK, escalated=True, told=("other",)), False, By.NOTHING),
        (Served(first="own", band=Band.STRONG, escalated=False, told=("other",)), True, By.PAGE),
        # What is official stands above a right first hit, and above a right correction.
        (Served(first="own", band=Band.STRONG, escalated=False, official="other", told=("own",)), False, By.OFFICIAL),
        (Served(first="other", band=Band.WEAK, escalated=False, official="own"), True, By.OFFICIAL),
        (Served(first="own", band=Band.STRONG, escalated=False, official=""), False, By.OFFICIAL),
    ],
)
def test_a_reply_is_right_when_the_agent_answers_from_the_page(served: Served, right: bool, by: By) -> None:
    reply = judged(served, OWN)
    assert (reply.right, reply.by) == (right, by)
    assert reply.stray == ("other" in served.told)
    assert reply.surely_wrong == (not right and (served.band is Band.STRONG or served.official is not None))
    # Where no page answers, only "I do not know" is right.
    nobody = judged(served, frozenset())
    assert nobody.right == (served.escalated and served.official is None)


def test_who_speaks_up_depends_on_the_reply_and_how_ready_he_is_does_not() -> None:
    habits = Habits(corrects=0.2, complains=0.3, praises=0.15, slips=0.1)
    wrong = judged(Served(first="other", band=Band.STRONG, escalated=False), OWN)
    right = judged(Served(first="own", band=Band.STRONG, escalated=False), OWN)
    unsaid = judged(Served(first="", band=Band.WEAK, escalated=True), OWN)

    def said(reply: object, voice: float, slip: float = 0.5, *, known: bool = True) -> Says:
        asking = replace(ASKED, voice=voice, slip=slip)
        return says(asking, reply, known=known, habits=habits)  # pyright: ignore[reportArgumentType]

    assert [said(wrong, voice) for voice in (0.1, 0.3, 0.6)] == [Says.CORRECTION, Says.COMPLAINT, Says.NOTHING]
    assert said(wrong, 0.1, known=False) is Says.COMPLAINT
    assert [said(right, voice) for voice in (0.1, 0.3)] == [Says.PRAISE, Says.NOTHING]
    # The mistaken ones.
    assert (said(wrong, 0.1, 0.05), said(right, 0.1, 0.05)) == (Says.PRAISE, Says.CORRECTION)
    assert said(unsaid, 0.1, 0.05) is Says.NOTHING


ASKED = Asking(number=0, week=1, question=KEYS, form=Form.WHOLE, text="", person=0, voice=0.9, slip=0.9, blame=0.9)


def heard(
    number: int, question: str, *, right: bool, said: Says = Says.NOTHING, text: str = "", week: int = 1
) -> Heard:
    asked = BY_ID[question]
    page = min(LIBRARY.gold(asked), default="")
    served = Served(first=page if right else "other", band=Band.STRONG, escalated=False)
    asking = replace(ASKED, number=number, week=week, question=asked, text=text or asked.text)
    return Heard(asking, judged(served, LIBRARY.gold(asked)), said)


def test_repeat_errors_are_counted_from_the_complaint_on_and_by_kinship() -> None:
    course = [
        heard(0, "a1", right=False),  # nobody complained yet
        heard(1, "a1", right=False, said=Says.COMPLAINT),  # the first complaint is no repeat
        heard(2, "a1", right=False),
        heard(3, "a1", right=True, text="rotate key"),
        heard(4, "a7", right=False, said=Says.CORRECTION),
        heard(5, "a7", right=True),
        heard(6, "a2", right=False),
        heard(7, "n1", right=False, said=Says.COMPLAINT),  # no page answers it
        heard(8, "n1", right=False),
        heard(9, "a3", right=True, said=Says.COMPLAINT),  # mistaken: it was right
        heard(10, "a3", right=False),
    ]
    found = cases(course, LIBRARY)
    assert [case.kin for case in found] == [
        None, None, Kin.EXACT, Kin.REWORDED, Kin.SIBLING, Kin.EXACT, None, None, None, None, None,
    ]  # fmt: skip
    assert [case.corrected for case in found] == [False] * 5 + [True] + [False] * 5


def played(without: list[Heard], with_loop: list[Heard]) -> Played:
    replies = {each.id: judged(Served(first="", band=Band.WEAK, escalated=True), LIBRARY.gold(each)) for each in ALL}
    after = replies | {
        "a5": judged(Served(first="export", band=Band.STRONG, escalated=False), LIBRARY.gold(BY_ID["a5"]))
    }
    return Played(
        without=without, with_loop=with_loop, before=replies, after=after, did=[Counter(a=1), Counter(a=2)], parts={}
    )


ALL = LIBRARY.questions


def test_the_figures_by_hand() -> None:
    first = heard(0, "a1", right=False, said=Says.CORRECTION)
    without = [
        first,
        heard(1, "a1", right=False, week=2),
        heard(2, "a2", right=True, week=2),
        heard(3, "n1", right=False, week=2),
    ]
    with_loop = [
        first,
        heard(1, "a1", right=True, week=2),
        heard(2, "a2", right=False, week=2),
        heard(3, "n1", right=False, week=2),
    ]
    found = figures(played(without, with_loop), LIBRARY)
    rate = found["rates"]["all"]["repeat_error"]
    assert (rate["without"]["rate"], rate["with_loop"]["rate"], rate["fall"]) == (1.0, 0.0, 1.0)
    assert found["rates"]["all"]["wrong"]["without"] == {"cases": 3, "number": 2, "rate": 0.6667}
    assert found["rates"]["late"]["wrong"]["without"] == {"cases": 2, "number": 1, "rate": 0.5}
    assert found["rates"]["all"]["repeat_error_sibling"]["without"]["rate"] == -1.0
    paired = found["paired"]
    assert (paired["righted"], paired["righted_by"]["page"]) == (1, 1)
    assert (paired["harmed"], paired["harm"], paired["harmed_questions"]) == (1, 1.0, ["a2"])
    assert found["exam"]["never_asked"]["righted"] == 1
    assert found["exam"]["asked"]["harmed"] == 0
    assert found["did"] == {"a": 3}
    assert set(named(found)) <= KNOWN
    wanted = gates.parse(["repeat_error.fall>=0.5,harm<=0.1", "repeat_error_sibling.fall>=0"], KNOWN)
    held = gates.check_named(wanted, named(found))
    assert [gate.held for gate in held] == [True, False, False]
    assert held[2].measured == "this run does not give it"
    with pytest.raises(EvalError, match=r"no figure 'repeat_eror.fall'.* Did you mean repeat_error.fall"):
        gates.parse(["repeat_eror.fall>=0.5"], KNOWN)
    with pytest.raises(EvalError, match="is no gate"):
        gates.parse(["last"], KNOWN)


def test_a_person_quotes_the_part_of_the_page_that_says_it(tmp_path: Path) -> None:
    page = LIBRARY.pages["hooks"]
    assert page.quote("signed with a secret") == page.text
    text = "\n\n".join(f"Sentence {number} is about thing {number}." for number in range(30))
    assert "thing 17." in replace(page, text=text).quote("what of thing 17?")
    assert len(replace(page, text="word " * 500).quote("word")) <= 350


def test_questions_that_nobody_can_judge_are_left_out_and_a_set_of_them_is_refused() -> None:
    assert LIBRARY.held == {"keys"}
    lost = Question(id="x", text="Answerable, and nobody says by which page?")
    assert lost not in Library(WHOLE.model_copy(update={"questions": (*WHOLE.questions, lost)}), WHOLE).questions
    with pytest.raises(EvalError, match="No question names a page"):
        Library(WHOLE.model_copy(update={"questions": (lost,)}), WHOLE)
