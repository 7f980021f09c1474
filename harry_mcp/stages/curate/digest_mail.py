"""The digest as a mail: plain text, and HTML that mail clients show, with every stored text escaped."""

from __future__ import annotations

from html import escape

from harry_mcp.domain.digest import Digest
from harry_mcp.domain.notifications import Notification, Picture
from harry_mcp.domain.plain import sanitised
from harry_mcp.stages.curate.digest import Block, Row, blocks, change_in_words, headline, percent
from harry_mcp.stages.curate.digest_chart import HEIGHT, WIDTH, chart, described

_CHART = "chart"
_SUBJECT = 60
# Styles stand at each element: many clients throw style sheets away. Tables, because one of them lays nothing else out.
_FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_CELL = f"{_FONT};font-size:14px;line-height:20px;padding:5px 0;vertical-align:top"
_TABLE = 'role="presentation" cellpadding="0" cellspacing="0" border="0"'


def compose(digest: Digest, *, key: str, subject: str) -> Notification:
    """The mail. ``subject`` is what the knowledge base is about, from its profile; it may be empty."""
    about = " ".join(sanitised(subject, _SUBJECT).split())
    name = f"{about} knowledge base" if about else "Knowledge base"
    return Notification(
        key=key,
        # Figures and our own words alone: a title of a document can put nothing into a header.
        subject=f"{name}: {headline(digest)}",
        text=_text(digest, name),
        html=_html(digest, name),
        pictures=[Picture(name=_CHART, png=chart(digest))],
    )


def _text(digest: Digest, name: str) -> str:
    lines = [f"{name}, {_day(digest)}", headline(digest), ""]
    for block in blocks(digest):
        lines += [block.title.upper(), *(_line(row) for row in block.rows)]
        lines += [block.empty, ""] if not block.rows else [""]
    return "\n".join([*lines, _FOOT]) + "\n"


_FOOT = "Titles and questions are quoted as they were stored; nobody has checked them. Sent once a day by harry worker."


def _line(row: Row) -> str:
    return f"  {row.figure:>6}  {row.label}" + (f" ({row.detail})" if row.detail else "")


def _html(digest: Digest, name: str) -> str:
    parts = [_block(block) for block in blocks(digest)]
    # The picture belongs to the searches, the second block.
    parts.insert(2, _picture(digest))
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{escape(name)}</title></head>"
        f'<body style="margin:0;padding:0;background:#f2f5f7"><table {_TABLE} width="100%" style="background:#f2f5f7">'
        '<tr><td align="center" style="padding:20px 10px">'
        f'<table {_TABLE} width="600" style="width:100%;max-width:600px;background:#ffffff;border-radius:8px">'
        f'<tr><td style="padding:22px 20px 4px;{_FONT};color:#22303c">'
        f'<div style="font-size:20px;line-height:26px;font-weight:bold">{escape(name)}</div>'
        f'<div style="font-size:13px;line-height:20px;color:#6b7883">{escape(_day(digest))}</div></td></tr>'
        f'<tr><td style="padding:10px 20px">{_tiles(digest)}</td></tr>{"".join(parts)}'
        f'<tr><td style="padding:14px 20px 20px;{_FONT};font-size:12px;line-height:17px;color:#6b7883">{escape(_FOOT)}'
        "</td></tr></table></td></tr></table></body></html>\n"
    )


def _tiles(digest: Digest) -> str:
    tiles = (
        (percent(digest.this_week), "escalated, 7 days", change_in_words(digest)),
        (str(digest.waiting.total), "waiting", "for a curator"),
        (str(digest.flags), "new flags", "in 24 hours"),
    )
    cells = "".join(
        f'<td width="33%" style="padding:10px 8px;{_FONT};color:#22303c;vertical-align:top">'
        f'<div style="font-size:24px;line-height:30px;font-weight:bold">{escape(figure)}</div>'
        f'<div style="font-size:13px;line-height:18px">{escape(label)}</div>'
        f'<div style="font-size:12px;line-height:17px;color:#6b7883">{escape(detail)}</div></td>'
        for figure, label, detail in tiles
    )
    return f'<table {_TABLE} width="100%" style="background:#f2f5f7;border-radius:6px"><tr>{cells}</tr></table>'


def _block(block: Block) -> str:
    rows = "".join(_row(row) for row in block.rows) or (
        f'<tr><td colspan="2" style="{_CELL};color:#6b7883">{escape(block.empty)}</td></tr>'
    )
    return (
        f'<tr><td style="padding:14px 20px 0;{_FONT};font-size:15px;line-height:22px;font-weight:bold;color:#22303c">'
        f'{escape(block.title)}</td></tr><tr><td style="padding:2px 20px"><table {_TABLE} width="100%">{rows}</table>'
        "</td></tr>"
    )


def _row(row: Row) -> str:
    detail = (
        f'<div style="font-size:12px;line-height:17px;color:#6b7883">{escape(row.detail)}</div>' if row.detail else ""
    )
    return (
        f'<tr><td width="56" style="{_CELL};color:#1f7a8c;font-weight:bold;white-space:nowrap;padding-right:10px">'
        f'{escape(row.figure)}</td><td style="{_CELL};color:#22303c;word-break:break-word">'
        # A name of a person or a page in another script must not turn the line around it.
        f'<span dir="auto">{escape(row.label)}</span>{detail}</td></tr>'
    )


def _picture(digest: Digest) -> str:
    return (
        f'<tr><td style="padding:6px 20px 0"><img src="cid:{_CHART}" width="{WIDTH}" height="{HEIGHT}" '
        f'alt="{escape(described(digest))}" style="display:block;width:100%;max-width:{WIDTH}px;height:auto;border:0;'
        'background:#ffffff"></td></tr>'
    )


def _day(digest: Digest) -> str:
    return f"{digest.until:%A, %d %B %Y, %H:%M} UTC"
