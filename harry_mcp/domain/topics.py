"""Where a question stands in the topic tree of the profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harry_mcp.domain.tokens import index_terms

_STEP = " > "


def breadcrumb(text: str, topics: Mapping[str, Sequence[str]]) -> str:
    """The topic that a text names, as "CRM > Contacts", or the name of a branch alone; "" for none.

    A topic is named when all its words stand in the text, in whatever form. The one with the most words wins, and a
    leaf before its branch.
    """
    words = set(index_terms(text))
    best, most = "", (0, 0)
    for branch, leaves in topics.items():
        for name, depth in ((branch, 0), *((leaf, 1) for leaf in leaves)):
            named = set(index_terms(name))
            if named and named <= words and (len(named), depth) > most:
                best, most = (branch + _STEP + name if depth else branch), (len(named), depth)
    return best
