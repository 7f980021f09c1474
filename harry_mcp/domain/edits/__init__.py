"""An edit of a statement: was a fact superseded, or was it put in other words?

What is only markup is taken off (``bare``), quantities are written one way (``measured``), the rest is compared word by
word (``domain.differences``), and what a comparison of single words cannot see is looked for: bounds, conditions and
for whom it holds (``scope``).
"""

from harry_mcp.domain.edits.bare import bare
from harry_mcp.domain.edits.change import Change, change_of
from harry_mcp.domain.edits.superseded import superseded

__all__ = ["Change", "bare", "change_of", "superseded"]
