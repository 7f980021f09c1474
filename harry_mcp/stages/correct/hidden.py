"""Characters that a person does not see, and the wording under a disguise of look-alike characters."""

from __future__ import annotations

import unicodedata

import regex

from harry_mcp.stages.correct.findings import Finding

_TAGS = regex.compile("[\U000e0000-\U000e007f]|[\U000e0100-\U000e01ef]{4,}|[\ufe00-\ufe0f]{3,}")
# Direction marks alone (U+200E, U+200F) are ordinary in text that mixes Arabic or Hebrew with Latin.
_BIDI = regex.compile("[\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT = regex.compile(r"[\p{Arabic}\p{Hebrew}\p{Syriac}\p{Thaana}]")
_ZERO_WIDTH = "\u200b\u2060-\u2064\u180e\u115f\u1160\u3164\uffa0"
_INSIDE = regex.compile(rf"(?<=[\p{{L}}\p{{N}}])[{_ZERO_WIDTH}\ufeff\u200c\u200d\u00ad]+(?=[\p{{Latin}}\p{{N}}])")
_ELSEWHERE = regex.compile(rf"[{_ZERO_WIDTH}]")
_CONTROL = regex.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_STACKED = regex.compile(r"\p{Mn}{4,}")
_MIXED = regex.compile(
    r"\b(?=\w*\p{Latin})(?=\w*[\p{Cyrillic}\p{Greek}])(?![\p{Latin}]{0,3}[μµΩ]\p{Latin}{0,3}\b)[\p{L}\p{M}]{4,}\b"
)

# Letters of other scripts that print like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "асеіјорѕухһԁԛԝвкмнтАВСЕНІЈКМОРЅТХαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧɡɑıŀǃ",
    "aceijopsyxhdqwbkmhtABCEHIJKMOPSTXaeikvoptuxABEZHIKMNOPTYXgail!",
)
_ROT13 = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm"
)
_DIGITS_FOR_LETTERS = str.maketrans("013457@$!|", "oieastasii")
_DISGUISED_WORD = regex.compile(
    r"(?<![\w@$!|])(?=\S{0,30}[\p{L}])(?=\S{0,30}[013457@$|!]\S{0,30}\p{L})[\p{L}013457@$|!]{3,30}"
)
_SPACED = regex.compile(r"(?<![\p{L}\p{N}])(?:\p{L}([ ._*-]))(?:\p{L}\1)+\p{L}(?![\p{L}\p{N}])")
# "Plan A B C" is ordinary; this many letters apart are words in disguise.
_SPACED_LETTERS = 8


def invisible(text: str) -> list[Finding]:
    """Findings about characters that print as nothing, turn the direction of text, or pile up."""
    found: list[Finding] = []

    def add(name: str, weight: float, says: str, match: regex.Match[str] | None) -> None:
        if match:
            codes = " ".join(f"U+{ord(character):04X}" for character in match.group()[:4])
            found.append(Finding(name=name, says=says, weight=weight, excerpt=codes))

    add("invisible", 0.95, "It carries a message in characters that are never shown.", _TAGS.search(text))
    ordinary = _RIGHT_TO_LEFT.search(text) is not None
    add("bidirectional", 0.2 if ordinary else 0.6, "It turns the direction of text.", _BIDI.search(text))
    inside = _INSIDE.search(text)
    add("invisible", 0.6, "It has invisible characters inside words.", inside)
    add("invisible", 0.3, "It has invisible characters.", None if inside else _ELSEWHERE.search(text))
    add("control", 0.5, "It has control characters.", _CONTROL.search(text))
    add("stacked", 0.5, "It piles marks on letters.", _STACKED.search(unicodedata.normalize("NFD", text)))
    mixed = _MIXED.search(text)
    if mixed:
        says = "It mixes alphabets within a word."
        found.append(Finding(name="mixed-script", says=says, weight=0.5, excerpt=mixed.group()[:40]))
    spaced = [match.group() for match in _SPACED.finditer(text)]
    if sum(len(run) // 2 + 1 for run in spaced) >= _SPACED_LETTERS:
        says = "It spells words letter by letter."
        found.append(Finding(name="spaced-letters", says=says, weight=0.5, excerpt=" ".join(spaced)[:40]))
    return found


def undisguised(text: str) -> list[str]:
    """Other readings of the text that differ from it: look-alikes folded, digits read as letters, spelling joined,
    written backwards, rotated by thirteen."""
    folded = _SPACED.sub(lambda match: match.group().replace(match[1], ""), text)
    folded = _MIXED.sub(lambda match: match.group().translate(_LOOK_ALIKES), folded)
    folded = _DISGUISED_WORD.sub(lambda match: match.group().translate(_DIGITS_FOR_LETTERS), folded)
    marks = (character for character in unicodedata.normalize("NFD", folded) if not unicodedata.combining(character))
    readings = ("".join(marks), text[::-1], text.translate(_ROT13))
    return [reading for reading in readings if reading != text]
