"""Word documents as Markdown: mammoth reads the styles, the writer of web pages writes what they mean."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any, cast

from harry_mcp.ingest.formats.archives import opened, refuse_entities
from harry_mcp.ingest.formats.converted import Converted, damaged
from harry_mcp.ingest.formats.core_properties import core_properties
from harry_mcp.ingest.html_pages import read_page

_KIND = "a Word document"
# Beside what mammoth knows: headings, lists, tables, notes
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='macro'] => pre:separator('\\n')
p[style-name='Plain Text'] => pre:separator('\\n')
p[style-name='Quote'] => blockquote:fresh
p[style-name='Intense Quote'] => blockquote:fresh
r[style-name='Code'] => code
r[style-name='HTML Code'] => code
r[style-name='Source Code'] => code
r[style-name='Verbatim Char'] => code
"""


def convert_docx(data: bytes, source: str) -> Converted:
    """A .docx as it reads with its tracked changes accepted; comments are left out."""
    mammoth = cast(Any, import_module("mammoth"))
    with opened(data, source=source, kind=_KIND) as archive:
        refuse_entities(archive, source=source, kind=_KIND)
        title, language = core_properties(archive)
        try:
            html = str(
                mammoth.convert_to_html(
                    io.BytesIO(data), style_map=_STYLES, convert_image=mammoth.images.img_element(_without_data)
                ).value
            )
        # It has no error of its own: what it raises depends on what is wrong with the file.
        except Exception as error:
            raise damaged(source, _KIND) from error
    page = read_page(html, whole=True)
    return Converted(text=page.text, title=title or page.title, language=language)


def _without_data(image: object) -> dict[str, str]:
    """No picture is opened: only its alternative text, which mammoth adds, can be searched."""
    return {}
