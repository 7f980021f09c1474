"""reStructuredText as HTML, with every word kept of the directives and roles that only Sphinx knows.

docutils drops a directive that it does not know and everything in it. So the names in a text that are unknown are
registered first, as directives that show their argument and their content, and roles that show their words.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable
from typing import Any, cast

_DIRECTIVE = re.compile(
    r"^[ \t]*(?:\.\.[ \t]+)(?:\|[^|\n]+\|[ \t]+)?([A-Za-z][\w:+.-]*?)[ \t]?::(?:\s|\Z)", re.MULTILINE
)
_ROLE = re.compile(r":([A-Za-z][\w.+-]*(?::[\w.+-]+)*):`|`:([A-Za-z][\w.+-]*(?::[\w.+-]+)*):")
_TITLED = re.compile(r"(.+?)\s*<[^<>]+>\Z", re.DOTALL)
_CODE_WORDS = (
    "code-block sourcecode code-tab code-cell highlight-block ipython ipython3 prompt console doctest "
    "testcode testoutput testsetup testcleanup productionlist"
)
_CODE = frozenset(_CODE_WORDS.split())
_SILENT_WORDS = (
    "toctree index highlight currentmodule module py:module py:currentmodule default-domain "
    "tabularcolumns sectionauthor codeauthor autosummary contents"
)
_SILENT = frozenset(_SILENT_WORDS.split())
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}
_LONGEST_LINE = 10_000  # the limit of docutils, which empties a document with one longer line
# A definition that refers to two others doubles the text at each step: six of them are no document but an attack.
_DOUBLING = re.compile(r"^[ \t]*\.\.[ \t]+\|[^|\n]+\|[ \t]+replace::(?:[^|\n]*\|[^|\n]+\|){2}", re.MULTILINE)
_MOST_DOUBLING = 5
_SETTINGS: dict[str, object] = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "traceback": True,  # raise, where docutils would otherwise print and leave the process
    "_disable_config": True,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "smart_quotes": False,
    "stylesheet": None,
    "stylesheet_path": None,
    "embed_stylesheet": False,
    "line_length_limit": _LONGEST_LINE,
    "output_encoding": "unicode",
}
_registering = threading.Lock()


def rst_to_html(text: str) -> str | None:
    """A whole HTML page, or None for a text that docutils must not or cannot read."""
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")) or len(_DOUBLING.findall(text)) > _MOST_DOUBLING:
        return None
    _register(text)
    return _published(text)


def _published(text: str) -> str | None:
    import docutils.core
    from docutils import ApplicationError
    from docutils.utils import SystemMessage
    from docutils.writers.html5_polyglot import Writer

    core = cast(Any, docutils.core)
    settings = {**_SETTINGS, "warning_stream": io.StringIO()}
    try:
        tree = core.publish_doctree(text, settings_overrides=settings)
        _show_what_failed(tree)
        return str(core.publish_from_doctree(tree, writer=Writer(), settings_overrides=settings))
    except (ApplicationError, SystemMessage, RecursionError):
        return None


def _show_what_failed(tree: Any) -> None:
    """Put the source of a construct with an error in the place of the error: its words are worth more than nothing."""
    from docutils import nodes

    for message in list(tree.findall(nodes.system_message)):
        sources = [node for node in message.children if isinstance(node, nodes.literal_block)]
        kept = sources if message["level"] >= 3 else []
        message.parent.replace(message, [nodes.literal_block("", node.astext()) for node in kept])


def _register(text: str) -> None:
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.languages import en

    rst_directives, rst_roles, english = cast(Any, directives), cast(Any, roles), cast(Any, en)
    with _registering:  # the registries are the process's; only names that docutils lacks are added to them
        for name in {match.lower() for match in _DIRECTIVE.findall(text)}:
            known = name in english.directives and name not in _CODE
            if not known and name not in rst_directives._directives:
                rst_directives.register_directive(name, _directive(name))
        for name in {(before or after).lower() for before, after in _ROLE.findall(text)}:
            if name not in english.roles and name not in rst_roles._roles:
                rst_roles.register_local_role(name, _role)


def _role(
    name: str,
    rawtext: str,
    text: str,
    lineno: int,
    inliner: object,
    options: object = None,
    content: object = None,
) -> tuple[list[Any], list[Any]]:
    """The title of ``title <target>``, else the target; one word is a name in code, more are prose."""
    from docutils import nodes
    from docutils.utils import unescape

    words = str(unescape(text))
    titled = _TITLED.match(words)
    words = titled.group(1) if titled else words.lstrip("~!")
    if re.search(r"\s", words) or name.rpartition(":")[2] in (
        "ref",
        "doc",
        "term",
        "abbr",
        "guilabel",
        "menuselection",
    ):
        return [nodes.inline("", words)], []
    return [nodes.literal("", words)], []


class _AnyOptions(dict[str, Callable[[str], str]]):
    """Takes every option: which ones an unknown directive has cannot be known."""

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: object) -> bool:
        return True

    def __getitem__(self, key: str) -> Callable[[str], str]:
        return lambda value: value or ""


def _directive(name: str) -> type:
    from docutils.parsers.rst import Directive

    def run(self: Any) -> list[Any]:
        return _nodes(name, self)

    members = {
        "optional_arguments": 1,
        "final_argument_whitespace": True,
        "has_content": True,
        "option_spec": _AnyOptions(),
        "run": run,
    }
    return type("Shown", (Directive,), members)


def _nodes(name: str, directive: Any) -> list[Any]:
    from docutils import nodes

    if name in _SILENT:
        return []
    argument = " ".join(directive.arguments[:1])
    if name in _CODE:
        language = argument if re.fullmatch(r"[\w+#.-]{1,30}", argument) else ""
        title = str(directive.options.get("caption", ""))
        code = "\n".join(directive.content)
        block = nodes.literal_block("", code, classes=["code", language] if language else ["code"])
        return [*([nodes.paragraph("", title)] if title else []), block] if code.strip() else []
    found: list[Any] = []
    for words in _shown(name, argument):
        inline, messages = directive.state.inline_text(words, directive.lineno)
        found += [nodes.paragraph("", "", *inline), *messages]
    content = nodes.container()
    directive.state.nested_parse(directive.content, directive.content_offset, content)
    return found + list(content.children)


def _shown(name: str, argument: str) -> list[str]:
    if name in _VERSIONS:
        version, *rest = argument.split(maxsplit=1) or [""]
        return [": ".join([f"{_VERSIONS[name]} {version}", *rest])]
    if (":" in name and name.rpartition(":")[0] in ("py", "c", "cpp", "js", "rst", "std")) or name in _OBJECTS:
        return [f"``{line.strip()}``" for line in argument.split("\n") if line.strip()]  # a signature
    return [argument] if argument else []


_OBJECTS_WORDS = (
    "function class method attribute data exception option envvar confval cmdoption program describe "
    "object autofunction autoclass automodule automethod autodata autoexception autoattribute"
)
_OBJECTS = frozenset(_OBJECTS_WORDS.split())
