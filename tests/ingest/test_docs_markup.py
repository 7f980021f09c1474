"""What documentation tools add to Markdown: its words stay, its marks go, and what is code stays as it is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.ingest.readers import read_markdown
from harry_mcp.ingest.tidying import tidy_markdown

pytestmark = pytest.mark.promise("ING-1")

DOCUSAURUS = """---
title: Deploy
slug: /deploy
---
import Tabs from '@theme/Tabs';
import {
  Admonition,
  Card,
} from '@site/src/components';

export const Highlight = ({children}) => (
  <span style={{color: 'red'}}>

    {children}
  </span>
);

# Deploy {#deploy}

{/* a comment */}
Read the <Highlight color="#fff">whole</Highlight> page, then use `<Tabs>` or List<String>.

:::tip[Before you start]{.wide}

Have a *token*.

:::

<Tabs groupId="os">
  <TabItem value="lin" label="Linux" default>

    Run this:

    ```bash
    # as root
    import x from 'y'
    ```

  </TabItem>
  <TabItem value="mac" label="macOS">Use brew.</TabItem>
</Tabs>

<Card
  title="Next"
  href="/next"
  description={'Then go on.'}
/>

| a | b |
| - | - |
| <Card title="In a cell" /> | 1 |
"""


def test_docusaurus_and_other_mdx() -> None:
    document = read_markdown(DOCUSAURUS, source="file:///x/deploy.mdx")
    assert document.title == "Deploy"
    assert document.text == (
        "# Deploy\n\nRead the whole page, then use `<Tabs>` or List<String>.\n\n"
        "**Before you start**\n\nHave a *token*.\n\n"
        "**Linux**\n\nRun this:\n\n```bash\n# as root\nimport x from 'y'\n```\n\n"
        "**macOS** Use brew.\n\n**Next** Then go on.\n\n| a | b |\n| - | - |\n| **In a cell**  | 1 |"
    )
    assert read_markdown(DOCUSAURUS, source="file:///x/deploy.md").text == document.text  # Docusaurus reads .md as MDX


MKDOCS = """# Pumps

!!! note "Mind the valve"

    It opens at two bar.

    ??? example

        ``` yaml
        valve:
          open: true
        ```

=== ":material-linux: Linux"

    Use apt.

=== "macOS"
    Use brew.

1. First

    !!! warning
        Not too fast.

[Start :octicons-rocket-16:](start.md){ .md-button target=_blank }

[TOC]
--8<-- "parts/end.md"
!!! Hey, this is none.

    indented code
"""


def test_mkdocs() -> None:
    assert read_markdown(MKDOCS, source="a.md").text == (
        "# Pumps\n\n**Mind the valve**\n\nIt opens at two bar.\n\n**Example**\n\n"
        "``` yaml\nvalve:\n  open: true\n```\n\n"
        "**Linux**\n\nUse apt.\n\n**macOS**\n\nUse brew.\n\n1. First\n\n    **Warning**\n\n    Not too fast.\n\n"
        "Start\n\n!!! Hey, this is none.\n\n    indented code"
    )


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("::: warning Look out\nIt bites.\n:::\n\nEnd", "**Look out**\n\nIt bites.\n\nEnd"),
        ("::: details\nMore\n:::", "**Details**\n\nMore"),
        ("::: code-group\n\n```sh [npm]\nnpm i\n```\n\n:::", "```sh [npm]\nnpm i\n```"),
        ("> [!IMPORTANT]\n> Do it.", "> **Important**\n>\n> Do it."),
        ("> [!NOTE] Of use\n> Do it.", "> **Of use**\n>\n> Do it."),
        ("a {{< hint warning >}}careful{{< /hint >}} b", "a careful b"),
        ('{{% tab name="Linux" %}}\nUse apt.\n{{% /tab %}}', "**Linux**\nUse apt."),
        ("Added: {{< new-in 0.153.0 />}}", "Added: New in 0.153.0"),
        ('A {{< glossary_tooltip term_id="pod" text="Pod" >}} runs', "A Pod runs"),
        ("A {{% glossary-term pod %}} runs", "A pod runs"),
        ('{{< highlight go "linenos=table" >}}\nx := 1\n{{< /highlight >}}', "```go\nx := 1\n```"),
        ("{% highlight ruby %}\nputs 1\n{% endhighlight %}", "```ruby\nputs 1\n```"),
        ('[text]({{< ref "page.md" >}}) and {{ site.baseurl }}x', "text and x"),
        ('{% include note.html content="x" %}Words {% if a %}here{% endif %}.', "Words here."),
        ("{% comment %}hidden{% endcomment %}shown", "shown"),
        ('{% tabs %}{% tab title="Java" %}\nwords\n{% endtab %}{% endtabs %}', "**Java**\nwords"),
        ("Use `{{ x }}` and `{% y %}`: {{ user_name }}", "Use `{{ x }}` and `{% y %}`: {{ user_name }}"),
        ("```jinja\n{% if x %}\n::: tip\n!!! note\n```", "```jinja\n{% if x %}\n::: tip\n!!! note\n```"),
        ("Text.\n{: .note }\n\n## Head {: #anchor }", "Text.\n\n## Head"),
        ('[a](https://x.org){:target="_blank"} b', "[a](https://x.org) b"),
        ("Sets like {a, b} and {1} stay, and {#x y} goes.", "Sets like {a, b} and {1} stay, and goes."),
    ],
)
def test_pieces(markdown: str, text: str) -> None:
    assert tidy_markdown(markdown) == text


def test_links() -> None:
    text = (
        "[a](b.md) [c](https://x.org/(y)) [d](#e) [f](mailto:g@h.i) ![words of it](j.png) [k](<l m.md> 'n') `[o](p.md)`"
    )
    assert tidy_markdown(text) == "a [c](https://x.org/(y)) d [f](mailto:g@h.i) words of it k `[o](p.md)`"
    linked = tidy_markdown(text, link=lambda target: f"https://h.org/{target.replace(' ', '%20')}")
    assert linked.startswith("[a](https://h.org/b.md) [c](https://x.org/(y)) d")
    assert "[k](https://h.org/l%20m.md)" in linked


def test_a_page_from_the_web_has_links_that_lead_somewhere() -> None:
    text = read_markdown("Some words: [a](../b.md#c) and [d](/e).", source="https://x.org/docs/f/g.md").text
    assert text == "Some words: [a](https://x.org/docs/b.md#c) and [d](https://x.org/e)."


def test_the_page_of_a_section_says_what_its_front_matter_says() -> None:
    document = read_markdown("---\ntitle: Pumps\ndescription: All about pumps.\n---\n", source="file:///x/_index.md")
    assert (document.title, document.text) == ("Pumps", "All about pumps.")


_PIECES = [
    "{{< ",
    "{% ",
    " %}",
    " >}}",
    ":::",
    "!!! a",
    "    b",
    "\n",
    "<A ",
    "</A>",
    "/>",
    "x='",
    '"',
    "```",
    "import ",
    "`",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_soup_keeps_the_words_after_it(pieces: list[str]) -> None:
    soup = "".join(pieces)
    assert "anchorword" in read_markdown(f"{soup}\n\n\n\n```\n\nanchorword\n", source="a.mdx").text + soup * (
        "`" in soup
    )


@pytest.mark.parametrize(
    "piece",
    ["<A x={{", "{{< a ", "{% a ", '<A b="', "::: a\n", "!!! a\n    ", "[", "`", "export const x = {\n", "<A>\n"],
)
def test_hostile_repetition_takes_seconds(piece: str) -> None:
    started = time.perf_counter()
    read_markdown("words </A>\n" + piece * (60_000 // len(piece)), source="a.mdx")
    assert time.perf_counter() - started < 15
