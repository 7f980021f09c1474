"""Pages: the article, with its headings, code, lists and tables, and what the page says of itself."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harry_mcp.errors import SourceError
from harry_mcp.ingest.html_selection import agreed_blocks
from harry_mcp.ingest.html_writer import fragment_markdown
from harry_mcp.ingest.readers import read_html

pytestmark = pytest.mark.promise("ING-1")

PAGE = """<!doctype html><html lang="en-GB"><head><title>Install | Foo docs</title>
<link rel="canonical" href="/install"></head><body>
<nav><ul><li><a href="/a">Navigation</a></ul></nav><main>
<h1>Install the <code>thing</code></h1>
<p>This is a <b>long</b> paragraph with <code>pip install foo</code> and a <a href="/docs">link</a>, which says
enough to be kept by anything that looks for an article.</p>
<h2 id="q">Quick<a class="headerlink" href="#q">¶</a></h2>
<pre><code class="language-python">def f(x):
    # comment
    if x:
        return "a &lt; b"

    return 2
</code></pre>
<div class="highlight-bash notranslate"><div class="highlight"><pre><span></span>pip<span class="w"> </span>install foo
<span class="nb">cd</span> bar
</pre></div></div>
<ul><li>one<ul><li>one.a<li>one.b</ul><li>two</ul><ol start="3"><li>first<li>second</ol>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>a|b</td><td rowspan="2"><code>1</code></td></tr>
<tr><td>c<br>d</td></tr></table>
<dl><dt>Term</dt><dd>Its meaning.</dd></dl>
<blockquote><p>Quoted.</p></blockquote>
<p># no heading</p><p hidden>Hidden words</p>
</main><footer>Copyright</footer></body></html>"""


def test_everything_that_has_meaning_survives() -> None:
    document = read_html(PAGE, source="https://x.org/install?ref=1")
    assert document.source == "https://x.org/install"
    assert document.url == "https://x.org/install"
    assert document.title == "Install the thing"
    assert document.language == "en"
    for part in (
        "# Install the `thing`\n",
        "This is a **long** paragraph with `pip install foo` and a link, which says",
        "## Quick\n",
        '```python\ndef f(x):\n    # comment\n    if x:\n        return "a < b"\n\n    return 2\n```',
        "```bash\npip install foo\ncd bar\n```",
        "- one\n  - one.a\n  - one.b\n- two",
        "3. first\n4. second",
        "| Name | Value |\n| --- | --- |\n| a\\|b | `1` |\n| c d | `1` |",
        "- Term: Its meaning.",
        "> Quoted.",
        "\\# no heading",
    ):
        assert part in document.text
    for noise in ("Navigation", "Copyright", "¶", "Hidden"):
        assert noise not in document.text


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize("name", ["readability_pages", "aeb_pages"])
def test_real_pages_give_their_article_at_least_as_well_as_trafilatura(shared_data: Path, name: str) -> None:
    """Better than its defaults, and not worse than it is without the comments that it takes along by default."""
    import trafilatura

    ours: list[float] = []
    default: list[float] = []
    without_comments: list[float] = []
    with gzip.open(shared_data / "crawler" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        html, expected = row["html"], row["expected_text"]
        ours.append(_f1(read_html(html, source=row.get("url", row["id"])).text, expected))
        default.append(_f1(trafilatura.extract(html) or "", expected))
        without_comments.append(_f1(trafilatura.extract(html, include_comments=False) or "", expected))
    assert _mean(ours) >= max(_mean(default), _mean(without_comments))
    assert sum(score > 0.6 for score in ours) / len(ours) > 0.97


def _f1(found: str, expected: str) -> float:
    one, other = _words(found), _words(expected)
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def _mean(scores: list[float]) -> float:
    return sum(scores) / len(scores)


def test_code_on_real_pages_is_kept(shared_data: Path) -> None:
    with gzip.open(shared_data / "crawler" / "readability_pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    coded = [row for row in rows if row["expected_text"].strip() and "<pre" in row["html"]]
    assert coded
    kept = sum("```" in read_html(row["html"], source=row["id"]).text for row in coded)
    assert kept >= 0.6 * len(coded)


def test_the_structure_of_an_article_is_kept() -> None:
    prose = "".join(f"<p>Sentence number {n} of the article, which is long enough to be its own.</p>" for n in range(9))
    html = (
        f"<title>T</title><body><main><h1>Pump care</h1>{prose}"
        f"<h2>Steps</h2><ol><li>Open it<li>Close it</ol><dl><dt>bar<dd>A unit.</dl>{prose}"
        "<p>The <u>max_size</u> of a_b.</p><pre>x = 1</pre></main>"
    )
    text = read_html(html, source="s").text
    assert text.startswith("# Pump care")
    assert "## Steps\n\n1. Open it\n2. Close it\n\n- bar: A unit.\n\n" in text
    assert text.endswith("The max_size of a_b.\n\n```\nx = 1\n```")


def test_an_extractor_decides_on_edges_and_short_lines_only() -> None:
    article = "the first words of the article stand here. the last words of it stand here"
    long = (
        "A paragraph of more than twenty words that an extractor did not find for whatever reason it may have had, " * 2
    )
    blocks = [
        "By somebody",
        "# Title",
        "The first words of the article stand here.",
        "Read more",
        "- a list",
        long,
        "```\nx\n```",
        "The last words of it stand here",
        "- related one",
    ]
    kept = [block for block in blocks if block not in ("By somebody", "Read more", "- related one")]
    assert agreed_blocks(blocks, article) == kept
    assert agreed_blocks(blocks, "nothing of it") == blocks


def test_a_page_of_code_and_tables_alone_is_kept() -> None:
    rows = "".join(f"<tr><td><code>--option-{n}</code><td>{n}" for n in range(30))
    table = f"<table><tr><th>Name<th>Value{rows}</table>"
    html = f"<title>Options - Tool</title><body><main><h1>Options</h1>{table}<pre>x = 1</pre>"
    text = read_html(html, source="s").text
    assert text.startswith("# Options\n\n| Name | Value |\n| --- | --- |\n| `--option-0` | 0 |")
    assert text.endswith("```\nx = 1\n```")


def test_line_numbers_and_prompts_of_code_tables() -> None:
    html = (
        '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><div>'
        "<pre><span>a = 1</span>\n<span>b = 2</span></pre></div></td></tr></table>"
    )
    assert read_html(html, source="s").text == "```\na = 1\nb = 2\n```"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<pre>a<br>b<div>c</div><div>d</div></pre>", "```\na\nb\nc\nd\n```"),
        ("<pre>``` x</pre>", "````\n``` x\n````"),
        ('<pre class="brush: js">x</pre>', "```js\nx\n```"),
        ('<pre class="sourceCode python"><code>x</code></pre>', "```python\nx\n```"),
        ("<p>a <code>b`c</code> d</p>", "a ``b`c`` d"),
        ("<a href=x><div>card</div><p>words</p></a>", "card\n\nwords"),
        ("<details><summary>More</summary>text</details>", "**More**\n\ntext"),
        ("<table><tr><td><h2>Layout</h2><p>text</p></td><td>side</td></tr></table>", "## Layout\n\ntext\n\nside"),
        (
            "<table><caption>T</caption><tr><td colspan=2>a<td>b<tr><td>c</table>",
            "T\n\n| a |  | b |\n| --- | --- | --- |\n| c |  |  |",
        ),
        ("a<script>b</script>c<style>d</style><button>e</button>", "ac"),
        ("<ol><li><p>one</p><pre>x</pre></li></ol>", "1. one\n\n   ```\n   x\n   ```"),
        ("<table><tr><td>a</td></tr></table>", "a"),
        ("", ""),
    ],
)
def test_pieces(html: str, markdown: str) -> None:
    assert fragment_markdown(html) == markdown


@pytest.mark.parametrize(
    ("source", "canonical", "identity"),
    [
        ("https://x.org/a?b=1", "https://www.x.org/a#top", "https://www.x.org/a"),
        ("https://x.org/a", "https://evil.org/a", "https://x.org/a"),
        ("https://x.org/a", "https://x.org/", "https://x.org/a"),
        ("https://x.org/a", "javascript:alert(1)", "https://x.org/a"),
        ("file:///a.html", "https://x.org/a", "file:///a.html"),
    ],
)
def test_a_canonical_link_is_trusted_on_its_own_site(source: str, canonical: str, identity: str) -> None:
    html = f'<title>T</title><link rel="canonical" href="{canonical}"><p>Some words here.'
    assert read_html(html, source=source).source == identity


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>How to pay | Site</title><p>Some words here.", "How to pay"),
        ('<meta property="og:title" content="Better"><title>x</title><p>Some words here.', "Better"),
        ("<p>Some words here.", "page"),
    ],
)
def test_titles(html: str, title: str) -> None:
    assert read_html(html, source="file:///page.html").title == title


@pytest.mark.parametrize("html", ["", "<html><body></body></html>", "<script>x</script>", "<!-- x -->"])
def test_a_page_without_words_is_refused(html: str) -> None:
    with pytest.raises(SourceError, match="holds no text"):
        read_html(html, source="s")


@pytest.mark.parametrize(
    "html",
    [
        "<p>words " + "<b>" * 50_000,
        "<p>words<ul>" + "<li><ul>" * 200 + "x",
        "<p>some words here</p>" * 20_000,
        "<table>" + "<tr><td>a<td>b" * 20_000,
        "<table><tr><td colspan=9999>x<td rowspan=9999>y</tr>" + "<tr><td>z" * 500,
        "<pre>" + "x\n" * 200_000,
    ],
)
def test_hostile_pages_take_seconds(html: str) -> None:
    started = time.perf_counter()
    assert read_html(html, source="s").text
    assert time.perf_counter() - started < 30


@pytest.mark.parametrize(
    ("opens", "closes"),
    [
        ("<div class=x>", "</div>"),
        ("<table><tr><td>", "</td></tr></table>"),
        ("<ul><li>", "</li></ul>"),
        ("<p>", ""),
        ("<x-card>", "</x-card>"),
    ],
)
@pytest.mark.parametrize("depth", [40, 300, 20_000])
def test_no_depth_of_nesting_loses_words(opens: str, closes: str, depth: int) -> None:
    html = f"<p>the start of it</p>{opens * depth}<p>some deep words</p>{closes * depth}<p>the end of it</p>"
    text = read_html(html, source="s").text
    for words in ("the start of it", "some deep words", "the end of it"):
        assert words in text


_SOUP = "<p> <div> </div> <table> <tr> <td> <li> <ul> <pre> <br> </p> <b> <h1> <a> w&lt; x"


@given(st.lists(st.sampled_from(_SOUP.split())))
@example(["<ul>", "<div>", "<ul>", "<div>", "w&lt;", "<ul>"])
@settings(max_examples=100, deadline=None)
def test_any_soup_keeps_its_words(tags: list[str]) -> None:
    assert "anchorword" in read_html("".join(tags) + " anchorword", source="s").text
