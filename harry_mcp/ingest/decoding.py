"""Bytes to clean text: which encoding they are in, and which characters a stored text may hold."""

from __future__ import annotations

import codecs
import re
import unicodedata

from harry_mcp.errors import SourceError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with theirs
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_SAMPLE = 64_000  # detection looks at this many bytes: it is slow, and one page has one encoding

# Detection goes wrong on fewer characters beyond ASCII than this: a short table of Excel became Macintosh or Japanese.
_FEW = 100
_WESTERN = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüÿœßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜŸŒ€£§°«»¿¡„“”‚‘’‹›–—…•·©®™½¼²³µ×\xa0")
_ACCENTS_IN_A_ROW = re.compile(r"[^\W\d_a-zA-Z]{3}|[A-Za-z][²³µ¼½×°§£€©®][A-Za-z]")

_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Nothing here is visible: C0 and C1 controls, lone surrogates, soft hyphens, bidirectional marks and overrides,
# zero-width spaces and joiners of words, annotation marks, noncharacters, and the tag block (hidden messages).
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e00ff]"
)
# A joiner shapes Persian, Indic scripts and emoji; between ASCII letters it only hides a word from search.
_JOINERS = re.compile("[\u200c\u200d]+")
# Selectors of the supplement choose a form of an ideograph; anywhere else they smuggle bytes.
_STRAY_SELECTORS = re.compile("(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]+")
_TRAILING = re.compile(r"[ \t]+(?=\n|\Z)")


def clean_text(text: str) -> str:
    """NFC text with ``\\n`` line ends and nothing invisible in it but tabs; cleaning twice changes nothing."""
    text = unicodedata.normalize("NFC", _LINE_ENDS.sub("\n", text))
    text = _INVISIBLE.sub("", text).replace("\xa0", " ")
    text = _JOINERS.sub(_kept_joiner, _STRAY_SELECTORS.sub("", text))
    # Again, because what was taken out may have stood between a letter and its accent.
    return _TRAILING.sub("", unicodedata.normalize("NFC", text)).strip("\n")


def _kept_joiner(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    between = start > 0 and end < len(text) and not text[start - 1].isascii() and not text[end].isascii()
    return match.group()[0] if between else ""


def decoded(data: bytes, source: str) -> str:
    """``data`` in the encoding that :func:`decode` would find, each character kept."""
    return _decoded(data, source, "", html=False)


def decode(data: bytes | str, *, source: str, charset: str = "", html: bool = False) -> str:
    """Clean text of ``data``.

    A byte order mark wins, then ``charset`` (what the carrier declared), the page's own ``<meta charset>``, UTF-8,
    and last a guess from the bytes. Raises SourceError for bytes that are not text.
    """
    return clean_text(data if isinstance(data, str) else _decoded(data, source, charset, html=html))


def _decoded(data: bytes, source: str, charset: str, *, html: bool) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    declared = [charset]
    if html and (meta := _META_CHARSET.search(data[:4096])):
        declared.append(meta.group(1).decode("ascii"))
    wide = _wide_encoding(data)
    if wide:
        return data.decode(wide, errors="replace")
    if b"\x00" in data[:_SAMPLE]:
        raise SourceError(f"{source} is a binary file, not text.")
    for encoding in (*declared, "utf-8"):
        text = _strictly(data, encoding)
        if text is not None:
            return text
    return _guessed(data)


def _strictly(data: bytes, encoding: str) -> str | None:
    name = encoding.strip().lower()
    if not name or name.startswith(("utf-16", "utf-32")):
        return None  # a page that could be read as ASCII to find this is not in a wide encoding
    if name in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"):
        name = "cp1252"  # browsers read these so, and pages are written for browsers
    try:
        return data.decode(name)
    except (LookupError, ValueError):
        return None


def _wide_encoding(data: bytes) -> str:
    """UTF-16 without a mark: in most scripts of the West every second byte is zero."""
    sample = data[:4000]
    half = len(sample) // 2
    if half < 4 or b"\x00" not in sample:
        return ""
    for encoding, zeros, letters in (
        ("utf-16-le", sample[1::2], sample[::2]),
        ("utf-16-be", sample[::2], sample[1::2]),
    ):
        if zeros.count(0) > 0.7 * half and letters.count(0) < 0.05 * half:
            return encoding
    return ""


def _looks_western(text: str) -> bool:
    """Whether a text as Windows-1252 is one of few accents, all of which stand where the West has them."""
    foreign = [letter for letter in text if not letter.isascii()]
    return len(foreign) < _FEW and _WESTERN.issuperset(foreign) and _ACCENTS_IN_A_ROW.search(text) is None


def _guessed(data: bytes) -> str:
    western = _strictly(data, "cp1252")
    if western is not None and _looks_western(western):
        return western
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE]).best()
    text = _strictly(data, best.encoding) if best else None
    return data.decode("cp1252", errors="replace") if text is None else text
