"""Checkouts: a file's address at its host, without git, and never with the credentials of a remote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harry_mcp.domain.documents import SourceDocument
from harry_mcp.ingest.checkouts import Checkouts
from harry_mcp.ingest.front_matter import split_front_matter
from harry_mcp.ingest.sources import expand, file_of, missing_sources, read_each

pytestmark = pytest.mark.promise("ING-1")

SHA = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "ghp_secret"


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _config(remote: str, branch: str = "main") -> str:
    return (
        f'[core]\n\tbare = false\n[remote "fork"]\n\turl = https://github.com/other/fork\n[remote "origin"]\n'
        f'\turl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "{branch}"]\n'
        f"\tremote = origin\n\tmerge = refs/heads/{branch}\n"
    )


def _checkout(
    root: Path, remote: str = "https://github.com/acme/docs.git", head: str = "ref: refs/heads/main\n"
) -> Path:
    _write(root / ".git" / "config", _config(remote))
    _write(root / ".git" / "HEAD", head)
    return root


def _url(path: Path) -> str:
    (document,) = read_each(expand(str(path)))
    assert isinstance(document, SourceDocument)
    return document.url


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("https://github.com/acme/docs.git", "https://github.com/acme/docs/blob/main/guide/a%20b.md"),
        (f"https://me:{TOKEN}@github.com/acme/docs", "https://github.com/acme/docs/blob/main/guide/a%20b.md"),
        (f"https://{TOKEN}@www.github.com:443/acme/docs/", "https://github.com/acme/docs/blob/main/guide/a%20b.md"),
        ("git@github.com:acme/docs.git", "https://github.com/acme/docs/blob/main/guide/a%20b.md"),
        ("ssh://git@gitlab.com:22/a/b/docs.git", "https://gitlab.com/a/b/docs/-/blob/main/guide/a%20b.md"),
        ("https://bitbucket.org/acme/docs", "https://bitbucket.org/acme/docs/src/main/guide/a%20b.md"),
        ("https://codeberg.org/acme/docs", "https://codeberg.org/acme/docs/src/branch/main/guide/a%20b.md"),
        ("https://git.sr.ht/~acme/docs", "https://git.sr.ht/~acme/docs/tree/main/item/guide/a%20b.md"),
        ("https://git.acme.internal/acme/docs", ""),
        (f"https://me:{TOKEN}@git.acme.internal/acme/docs", ""),
        ("https://github.com.evil.org/acme/docs", ""),
        ("https://evil.org/github.com/acme/docs", ""),
        ("https://github.com/../../etc", ""),
        ("https://github.com/acme/docs?x=<script>", "https://github.com/acme/docs/blob/main/guide/a%20b.md"),
        ("/srv/git/docs.git", ""),
        ("file:///srv/git/docs.git", ""),
        ("https://[github.com/acme", ""),
    ],
)
def test_the_remote_says_where_a_file_is(remote: str, url: str, tmp_path: Path) -> None:
    _checkout(tmp_path, remote)
    found = _url(_write(tmp_path / "guide" / "a b.md", "Some words."))
    assert found == url
    assert TOKEN not in found


@pytest.mark.parametrize(
    ("head", "packed", "ref"),
    [
        ("ref: refs/heads/main\n", "", "main"),
        ("ref: refs/heads/local-only\n", "", "HEAD"),
        ("ref: refs/heads/v2/next\n", f"{SHA} refs/remotes/origin/v2/next\n", "v2/next"),
        (f"{SHA}\n", f"{SHA} refs/tags/v1.2.3\n", "v1.2.3"),
        (f"{SHA}\n", f"{'f' * 40} refs/tags/v1.2.4\n^{SHA}\n", "v1.2.4"),
        (f"{SHA}\n", "", "HEAD"),
        ("ref: refs/heads/../../x\n", "", "HEAD"),
        ("nonsense", "", "HEAD"),
    ],
)
def test_the_ref_is_one_that_the_host_has_and_no_commit(head: str, packed: str, ref: str, tmp_path: Path) -> None:
    """With a commit in it, each pull would change the address of every document."""
    _checkout(tmp_path, head=head)
    _write(tmp_path / ".git" / "packed-refs", f"# pack-refs with: peeled fully-peeled sorted\n{packed}")
    assert _url(_write(tmp_path / "a.md", "Some words.")) == f"https://github.com/acme/docs/blob/{ref}/a.md"


def test_a_submodule_and_a_linked_work_tree(tmp_path: Path) -> None:
    root = _checkout(tmp_path / "main")
    _write(root / ".git" / "modules" / "sub" / "config", _config("https://gitlab.com/acme/sub"))
    _write(root / ".git" / "modules" / "sub" / "HEAD", f"{SHA}\n")
    _write(root / "sub" / ".git", "gitdir: ../.git/modules/sub\n")
    assert _url(_write(root / "sub" / "a.md", "Some words.")) == "https://gitlab.com/acme/sub/-/blob/HEAD/a.md"
    _write(root / ".git" / "worktrees" / "other" / "HEAD", "ref: refs/heads/topic\n")
    _write(root / ".git" / "worktrees" / "other" / "commondir", "../..\n")
    _write(root / ".git" / "refs" / "remotes" / "origin" / "topic", f"{SHA}\n")
    _write(tmp_path / "other" / ".git", f"gitdir: {root / '.git' / 'worktrees' / 'other'}\n")
    url = _url(_write(tmp_path / "other" / "docs" / "a.md", "Some words."))
    assert url == "https://github.com/acme/docs/blob/topic/docs/a.md"


@pytest.mark.parametrize("text", ["gitdir: /nowhere", "gitdir: \x00", "no", ""])
def test_a_broken_git_file_is_no_checkout(text: str, tmp_path: Path) -> None:
    _write(tmp_path / ".git", text)
    assert _url(_write(tmp_path / "a.md", "Some words.")) == ""


def test_front_matter_and_the_site_say_more(tmp_path: Path) -> None:
    root = _checkout(tmp_path)
    _write(root / "mkdocs.yml", "site_name: Docs\nsite_url: 'https://docs.acme.org/v1/'  # here\n")
    assert _url(_write(root / "a.md", "---\npermalink: /start/\n---\nWords.")) == "https://docs.acme.org/v1/start/"
    own = _write(root / "b.md", "---\nurl: https://other.org/b\nslug: /b\n---\nWords.")
    assert _url(own) == "https://other.org/b"
    assert _url(_write(root / "c.md", "---\nslug: c\n---\nWords.")) == "https://github.com/acme/docs/blob/main/c.md"
    page = '<link rel="canonical" href="https://acme.org/d"><p>Some words here.'
    assert _url(_write(root / "d.html", page)) == "https://acme.org/d"
    assert _url(_write(root / "e.html", "<p>Some words here.")) == "https://github.com/acme/docs/blob/main/e.html"
    (root / "mkdocs.yml").unlink()
    _write(root / "_config.yml", "title: x\nurl: https://acme.github.io\nbaseurl: /docs\n")
    assert _url(root / "a.md") == "https://acme.github.io/docs/start/"


def test_relative_links_lead_to_the_host_and_others_become_words(tmp_path: Path) -> None:
    root = _checkout(tmp_path / "docs")
    _write(tmp_path / "secret.md", "x")
    for name in ("guide/b.md", "guide/sub/index.md", "img/c d.png", "top.md"):
        _write(root / name, "Words.")
    text = (
        "[b](b.md#part), [sub](./sub/), [bare](../top), [root](/guide/b), [png](../img/c%20d.png), "
        "[out](../../secret.md), "
        "[gone](gone.md), [built](b.html), [here](#x), [web](https://x.org/a), [odd](//x.org/a), [nul](%00.md)"
    )
    (document,) = read_each(expand(str(_write(root / "guide" / "a.md", text))))
    assert isinstance(document, SourceDocument)
    base = "https://github.com/acme/docs/blob/main"
    assert document.text == (
        f"[b]({base}/guide/b.md#part), [sub]({base}/guide/sub/index.md), [bare]({base}/top.md), "
        f"[root]({base}/guide/b.md), [png]({base}/img/c%20d.png), out, gone, [built]({base}/guide/b.md), here, "
        "[web](https://x.org/a), [odd](//x.org/a), nul"
    )


def test_outside_of_a_checkout_there_is_no_address(tmp_path: Path) -> None:
    assert Checkouts().place_of(tmp_path / "a.md") is None
    assert _url(_write(tmp_path / "a.md", "[a](b.md) words.")) == ""


@given(st.text(alphabet='[]"=remotigunrl\n\t \\#;:/@.', max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_config_is_read_without_an_error(text: str) -> None:
    from harry_mcp.ingest.checkouts import _web  # pyright: ignore[reportPrivateUsage]
    from harry_mcp.ingest.git_files import _config as parsed  # pyright: ignore[reportPrivateUsage]

    for value in (*parsed(text).values(), text):
        assert "@" not in _web(value, "main").removeprefix("https://").split("/")[0]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("permalink: /a/b/", "/a/b/"),
        ("slug: /a", "/a"),
        ("slug: a", ""),
        ("permalink: //evil.org/a", ""),
        ("permalink: /blog/:title/", ""),
        ("url: https://x.org/a", ""),
    ],
)
def test_the_path_of_front_matter(text: str, path: str) -> None:
    assert split_front_matter(f"---\n{text}\n---\nx")[0].path == path


@pytest.mark.promise("ING-5")
@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_name_that_is_not_utf_8_is_not_reported_as_gone(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9 \xff.md")
    try:
        (tmp_path / name).write_text("Some words.", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    (item,) = expand(str(tmp_path))
    item.source.encode("ascii")
    assert file_of(item.source) == tmp_path.resolve() / name
    assert missing_sources(str(tmp_path), [item.source]) == []
    document = item.read()
    document.title.encode("utf-8")
    (tmp_path / name).unlink()
    assert missing_sources(str(tmp_path), [item.source]) == [item.source]
    (reason,) = [str(each.reason) for each in read_each([item]) if not isinstance(each, SourceDocument)]
    reason.encode("utf-8")
