"""Readers: every format becomes clean Markdown with its headings, tables, lists and code."""

from __future__ import annotations

import threading
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.errors import SourceError
from harry_mcp.ingest.bare_headings import named_headings
from harry_mcp.ingest.decoding import clean_text, decode
from harry_mcp.ingest.language import detect_language, iso_639_1
from harry_mcp.ingest.readers import read_markdown, read_rst, read_text

pytestmark = pytest.mark.promise("ING-1")

README = """---
title: "Front: title"
lang: de-AT
url: https://docs.example.org/start
---
<h1 align="center"><img src="logo.png" alt="logo"> My Project</h1>

[![Build Status](https://img.shields.io/x.svg)](https://ci) ![npm version](https://badge.fury.io/js/x.svg)
![A screenshot of the dashboard](a.png)

<!-- a comment
over lines -->
See [the docs][docs], [docs] and [other], `[docs]`, `<!-- kept -->`, <host> and [inline](https://x.org).

```html
<!-- kept -->
[docs]: https://x
```

<details>
<summary>More</summary>

Hidden **text**.

</details>

| a | b |
|---|---|
| 1 | 2 |

[docs]: https://docs.example.org "Title"
"""


def test_markdown_loses_only_what_is_not_text() -> None:
    document = read_markdown(README, source="file:///x/README.md")
    assert document.title == "Front: title"
    assert document.language == "de"
    assert document.url == "https://docs.example.org/start"
    assert document.text == (
        "# My Project\n\nA screenshot of the dashboard\n\n"
        "See the docs, docs and [other], `[docs]`, `<!-- kept -->`, <host> and [inline](https://x.org).\n\n"
        "```html\n<!-- kept -->\n[docs]: https://x\n```\n\n**More**\n\nHidden **text**.\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |"
    )


@pytest.mark.parametrize(
    ("text", "source", "title"),
    [
        ("# The `run` [command](x) {#run}\n\ntext", "a", "The run command"),
        ("Title\n=====\n\ntext", "a", "Title"),
        ("```sh\n# no title\n```\n\ntext", "file:///docs/getting-started.md", "getting started"),
        ("#\n\ntext", "file:///docs/billing/README.md", "billing"),
        ("+++\ntitle = 'Toml'\n+++\ntext", "a", "Toml"),
        ("---\ntitle: >-\n  Two\n  lines\nx: {a: 1}\n---\ntext", "a", "Two lines"),
        ("---\n\ntext\n\n---\n", "file:///a%20b.md", "a b"),
        ("text", "https://example.org/", "example.org"),
        ("# <img src=x onerror=alert(1)>\n\ntext", "file:///a.md", "<img src=x onerror=alert(1)>"),
        ("## <b>\n\n# <details> ##\n\ntext", "file:///a.md", "<details>"),
        ("# <img src='art/logo.svg' alt='The Widget Kit'>\n\ntext", "file:///a.md", "The Widget Kit"),
        ("# <a id='x'></a><img src='art/logo.svg'>\n\ntext", "file:///a.md", "a"),
    ],
)
def test_a_title_is_always_found(text: str, source: str, title: str) -> None:
    assert read_markdown(text, source=source).title == title


def test_a_heading_of_tags_is_kept_as_words_that_no_page_takes_for_tags() -> None:
    document = read_markdown("# <img src=x onerror=alert(1)>\n\ntext", source="a")
    assert document.text == "# ``<img src=x onerror=alert(1)>``\n\ntext"
    assert read_markdown(document.text, source="a").title == document.title, "the same when it is read again"
    endless = "# " + "<b> " * 50_000 + " " * 50_000 + "x"
    assert named_headings(endless) == endless, "read once, however long"


def test_the_caller_knows_better() -> None:
    document = read_markdown("# A\n\ntext", source="s", title="T", url="https://u.org", topic="x", language="pt-BR")
    assert (document.title, document.url, document.topic, document.language) == ("T", "https://u.org", "x", "pt")


def test_mdx_keeps_the_words_in_components() -> None:
    code = "```js\nimport x from 'y'\n```"
    text = f"import Tabs from '@x'\n\n# Hi\n\n<Tabs>\n\nInside.\n\n{code}\n\n</Tabs>\n\n<Note>Careful.</Note>"
    assert read_markdown(text, source="a.mdx").text == f"# Hi\n\nInside.\n\n{code}\n\nCareful."


RST = """
Project
=======

.. image:: https://img.shields.io/x.svg
   :alt: Build Status

Intro with :class:`~foo.Bar`, :ref:`the title <target>`, ``code`` and |release|.

Install
-------

.. code-block:: python
   :linenos:
   :caption: This is it

   def f():

       return 1

.. py:function:: foo(a, b=1)
   :noindex:

   Does *foo*.

.. versionadded:: 3.2
   More text.

.. tabs::

   .. tab:: Linux

      Use apt.

.. include:: /etc/passwd

.. raw:: html

   <script>alert(1)</script>

.. image:: x.png
   :badoption: kept words

* one

  * nested

=====  =====
A      B
=====  =====
1      2
=====  =====
"""


def test_rst_keeps_the_words_of_sphinx_and_opens_no_file() -> None:
    document = read_rst(RST, source="file:///x/index.rst")
    assert document.title == "Project"
    for part in (
        "# Project\n",
        "Intro with `foo.Bar`, the title, `code` and |release|.",
        "## Install\n\nThis is it\n\n```python\ndef f():\n\n    return 1\n```",
        "`foo(a, b=1)`\n\nDoes *foo*.",
        "New in version 3.2: More text.",
        "Linux\n\nUse apt.",
        "kept words",
        "- one\n  - nested",
        "| A | B |\n| --- | --- |\n| 1 | 2 |",
    ):
        assert part in document.text
    assert "root:" not in document.text
    assert "alert" not in document.text
    assert "Build Status" not in document.text


@pytest.mark.parametrize(
    "text",
    [
        "".join("  " * n + "* words\n\n" for n in range(300)),
        "words " * 5000,
        "\n".join(f".. |a{n}| replace:: |a{n + 1}| |a{n + 1}|" for n in range(40)) + "\n\n|a0|",
        "Title\n==\n\n.. unknown-thing\n\n`open\n\n**open\n\nSub\n^^^^\n\nlost?\n\n####\nOver\n",
    ],
)
def test_broken_rst_is_still_read(text: str) -> None:
    assert len(read_rst(text, source="a.rst").text.split()) >= min(len(text.split()), 8)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encodings_are_found(encoding: str) -> None:
    words = "Größe und Maß: ein längerer Text über Bücher, Käse und Türen, damit man es erkennt. " * 3
    assert decode(words.encode(encoding), source="s") == words.strip()


@pytest.mark.parametrize(
    ("encoding", "words"), [("shift_jis", "これは日本語の文章です。"), ("cp1251", "Привет, это русский текст. ")]
)
def test_old_encodings_are_found_or_declared(encoding: str, words: str) -> None:
    data = (words * 20).encode(encoding)
    assert decode(data, source="s") == (words * 20).strip()
    assert decode(data, source="s", charset=encoding) == (words * 20).strip()
    page = f'<meta charset="{encoding}"><p>{words}'.encode(encoding)
    assert words.strip() in decode(page, source="s", html=True)


def test_a_wrong_declaration_is_not_believed() -> None:
    assert decode("naïve".encode(), source="s", charset="ascii; nonsense") == "naïve"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\x00\x00", b"PK\x03\x04\x00\x00" * 50])
def test_binary_files_are_refused(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"a\.md is a binary file"):
        read_markdown(data, source="a.md")


@pytest.mark.parametrize("text", ["", " \n\t", "<!-- only -->", "![](x.png)", "---\ntitle: x\n---\n", "\u200b\ufeff"])
def test_no_text_is_said(text: str) -> None:
    with pytest.raises(SourceError, match=r"a\.md holds no text"):
        read_markdown(text, source="a.md")


def test_invisible_characters_go_and_meaningful_ones_stay() -> None:
    dirty = "a\x00b\u200bc\u202ed\ud800e\ufeff\r\nI\u0307 f\u00a0g \u2067x\U000e0041 pay\u200dpal \u2028end  \n"
    assert clean_text(dirty) == "abcde\nİ f g x paypal\nend"
    persian, family, ligature = "می\u200cخواهم", "👨\u200d👩\u200d👧", "ﬁ ½ ①"
    assert clean_text(f"{persian} {family} {ligature}") == f"{persian} {family} {ligature}"  # NFC, not NFKC


@given(st.text(alphabet=st.characters(), max_size=200))
@settings(deadline=None)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once
    assert unicodedata.is_normalized("NFC", once)
    once.encode()


@given(st.text(alphabet="ab#`~<>!-[]()|:\n \t\\*&;/=\"'1.", max_size=300))
@settings(max_examples=200, deadline=None)
def test_markdown_never_fails_and_keeps_code(text: str) -> None:
    document = read_markdown(f"words\n\n```\n{text.replace('`', '')}\n```\n", source="s")
    assert clean_text(text.replace("`", "")).strip() in document.text
    assert read_markdown(f"words\n\n{text}", source="s").title


@given(st.text(alphabet="ab:`*_|=-.\n \\<>", max_size=300))
@settings(max_examples=100, deadline=None)
def test_rst_never_fails(text: str) -> None:
    assert read_rst(f"words\n\n{text}", source="s").text


@pytest.mark.promise("RET-8")
@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Dies ist ein deutscher Text über viele Sachen, die man wissen sollte, bevor man anfängt.", "de"),
        ("This page tells how to install the program and what to do when it does not start.", "en"),
        ("Cette page explique comment installer le programme et que faire quand il ne démarre pas.", "fr"),
        ("これは日本語の文章です。もう少し長い文章が必要です。", "ja"),
        ("这是一个中文文本，足够长，可以用来检测语言，v3。", "zh"),
        ("ข้อความภาษาไทยที่ยาวพอสมควรเพื่อทดสอบการตรวจจับภาษาในเอกสาร", "th"),
        ("hello there", ""),
        ("```python\n" + "for name in names: print(name)\n" * 20 + "```", ""),
    ],
)
def test_the_language_is_detected_where_there_is_enough_prose(text: str, language: str) -> None:
    assert read_text(text, source="s").language == language


def test_language_detection_is_safe_in_threads() -> None:
    found: list[str] = []
    words = "This page tells how to install the program and what to do when it does not start."
    threads = [threading.Thread(target=lambda: found.append(detect_language(words))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["en"] * 8


@pytest.mark.parametrize(
    ("tag", "code"), [("en-GB", "en"), ("pt_BR", "pt"), ("zh-Hans", "zh"), ("nb", "no"), ("english", ""), ("", "")]
)
def test_language_tags(tag: str, code: str) -> None:
    assert iso_639_1(tag) == code


@pytest.mark.parametrize(
    ("text", "source", "markdown"),
    [
        ("# Heading\n\nWords.", "a.txt", "# Heading\n\nWords."),
        ("# a comment\nkey = 1\n# another\nkey = 2", "a.txt", "\\# a comment\nkey = 1\n\\# another\nkey = 2"),
        ("Words\n\n```\n# code\nx\n```", "a.txt", "Words\n\n```\n# code\nx\n```"),
        ("#hashtag and #\n#", "a.txt", "#hashtag and #\n\\#"),
        ("# set up\nimport os\n", "file:///x/a.py", "```py\n# set up\nimport os\n```"),
        ("FROM x\n# y\nRUN ```z```", "file:///x/Dockerfile", "````dockerfile\nFROM x\n# y\nRUN ```z```\n````"),
    ],
)
def test_a_comment_in_plain_text_is_no_heading(text: str, source: str, markdown: str) -> None:
    assert read_text(text, source=source).text == markdown
