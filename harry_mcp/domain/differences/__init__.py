"""What differs between two short texts in ways that change the meaning, and what follows from it.

The words are read (``reading``), paired (``matching``), and what is left over is judged: numbers (``quantities``),
negation and opposites (``polarity``), who does what to whom (``order``), names and things (``leftovers``).
"""

from harry_mcp.domain.differences.comparing import differences
from harry_mcp.domain.differences.kinds import Difference, Differences, Kind
from harry_mcp.domain.differences.verdicts import Grade, QuestionMatch, Thresholds, mergeable, same_question
from harry_mcp.domain.differences.vocabulary import Vocabulary

__all__ = [
    "Difference",
    "Differences",
    "Grade",
    "Kind",
    "QuestionMatch",
    "Thresholds",
    "Vocabulary",
    "differences",
    "mergeable",
    "same_question",
]
