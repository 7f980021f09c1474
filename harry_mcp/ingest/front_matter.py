"""The YAML or TOML block before a Markdown document: its title, address and language."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass

_YAML = re.compile(r"---[ \t]*\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)(?:^|\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"([A-Za-z_][\w .-]*?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)\Z")
_ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": " ", "\\t": " "}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What a document says of itself; "" for what it does not say.

    ``path`` is its place on its own site (``/guides/start/``): an address only where the site's is known.
    """

    title: str = ""
    url: str = ""
    path: str = ""
    language: str = ""
    description: str = ""


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """The front matter and the rest. A rule (``---``) that opens a text without keys under it is not front matter."""
    if match := _TOML.match(text):
        try:
            values = {key.lower(): value for key, value in tomllib.loads(match.group(1)).items()}
        except tomllib.TOMLDecodeError:
            return FrontMatter(), text
        return _front_matter({key: v for key, v in values.items() if isinstance(v, str)}), text[match.end() :]
    if (match := _YAML.match(text)) and (match.group(1).strip() == "" or _is_yaml(match.group(1))):
        return _front_matter(_yaml_strings(match.group(1))), text[match.end() :]
    return FrontMatter(), text


def _front_matter(values: dict[str, str]) -> FrontMatter:
    def first(*keys: str) -> str:
        return next((" ".join(values[key].split()) for key in keys if values.get(key, "").strip()), "")

    address = first("canonical_url", "canonical", "url", "permalink")
    path = first("permalink", "url", "slug")
    return FrontMatter(
        title=first("title"),
        url=address if address.startswith(("https://", "http://")) else "",
        path=path if re.fullmatch(r"/[\w/.~%+-]*", path) and not path.startswith("//") else "",
        language=first("lang", "language", "locale"),
        description=first("description", "summary"),
    )


def _is_yaml(block: str) -> bool:
    first = next((line for line in block.split("\n") if line.strip() and not line.startswith("#")), "")
    return _KEY.match(first) is not None


def _yaml_strings(block: str) -> dict[str, str]:
    """The top-level strings. Not a YAML parser: three plain keys are wanted, and nested values are passed over."""
    values: dict[str, str] = {}
    folded = ""
    for line in block.split("\n"):
        match = _KEY.match(line)
        if match:
            key, value = match.group(1).lower(), (match.group(2) or "").strip()
            folded = key if re.fullmatch(r"[|>][+-]?\d*", value) else ""
            values[key] = "" if folded else _scalar(value)
        elif folded and line.startswith(" "):
            values[folded] += " " + line.strip()
        elif line.strip():
            folded = ""
    return values


def _scalar(value: str) -> str:
    if quoted := re.match(r"\"((?:[^\"\\]|\\.)*)\"", value):
        return re.sub(r"\\.", lambda match: _ESCAPES.get(match.group(), match.group()), quoted.group(1))
    if quoted := re.match(r"'((?:[^']|'')*)'", value):
        return quoted.group(1).replace("''", "'")
    return re.sub(r"\s+#.*\Z", "", value)
