"""CUR-11: was a fact superseded between two versions of a statement, or was it only put in other words?"""

from __future__ import annotations

import math

from harry_mcp.domain.edits.change import change_of

# From here a share of lost words says no more.
_MOST_LOST = 0.4
# The least evidence that tells more than that words were added or taken away.
_STRONG = 2.5


def superseded(before: str, after: str) -> float:
    """How likely the edit superseded a fact, 0 to 1. 0.5 is even; the order of two edits is what it is good for.

    Facts change where a label, a number, a name, a bound or a denial gives way to another; words that are added, a step
    that is renumbered, markup and other words for the same supersede nothing. The weights are by hand.
    """
    change = change_of(before, after)
    told = not change.aside
    evidence = (
        (1.2 if change.taken_away else 2.0) * change.labels.lost
        + 2.0 * change.labels.exchanged
        + 3.0 * (change.number_exchanged and told)
        + 0.8 * (change.number_alone and told)
        + 1.5 * (change.number_alone and change.scope.bound_alone and told)
        + 2.7 * (change.name_exchanged and told)
        + 1.0 * change.name_lost
        + 0.6 * (change.word_exchanged and told)
        + 2.7 * change.kind_exchanged
        + 1.0 * change.kind_lost
        + 3.0 * change.turned
        + 0.7 * change.denial
        + 3.0 * change.scope.bound_turned
        + 2.0 * change.scope.must_turned
        + 2.7 * change.narrowed
        + 1.2 * change.scope.conditioned
        + 1.0 * change.restricted
    )
    weight = evidence + 2.0 * min(change.lost, _MOST_LOST) - 3.0 * change.same
    if evidence < _STRONG and (change.taken_away or not change.lost):
        # Only added, or only taken away: what is left stands.
        weight -= 0.5
    return 1 / (1 + math.exp(1.5 - weight))
