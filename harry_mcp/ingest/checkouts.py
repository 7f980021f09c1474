"""Where on the web the files of a git checkout of documentation are, and where their links lead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from harry_mcp.ingest.front_matter import FrontMatter
from harry_mcp.ingest.git_files import work_tree

# The hosts whose addresses of files are known, with what stands before the branch and before the path
_HOSTS = {
    "github.com": "{repository}/blob/{ref}/{path}",
    "gitlab.com": "{repository}/-/blob/{ref}/{path}",
    "bitbucket.org": "{repository}/src/{ref}/{path}",
    "codeberg.org": "{repository}/src/branch/{ref}/{path}",
    "gitee.com": "{repository}/blob/{ref}/{path}",
    "git.sr.ht": "{repository}/tree/{ref}/item/{path}",
}
_SCP = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!//)(.+)")
_REPOSITORY = re.compile(r"~?[\w.-]+(?:/[\w.-]+){1,5}")
_PAGES = (".md", ".mdx", ".markdown", ".rst", "/index.md", "/index.mdx", "/README.md", "/_index.md")
_SITE = (
    ("mkdocs.yml", re.compile(r"^site_url:[ \t]*[\"']?(https?://[^\s\"'#]+)", re.MULTILINE)),
    ("_config.yml", re.compile(r"^url:[ \t]*[\"']?(https?://[^\s\"'#]+)", re.MULTILINE)),
    ("hugo.toml", re.compile(r"^baseURL[ \t]*=[ \t]*[\"'](https?://[^\s\"']+)", re.MULTILINE | re.IGNORECASE)),
    ("hugo.yaml", re.compile(r"^baseURL:[ \t]*[\"']?(https?://[^\s\"'#]+)", re.MULTILINE | re.IGNORECASE)),
    ("config.toml", re.compile(r"^baseURL[ \t]*=[ \t]*[\"'](https?://[^\s\"']+)", re.MULTILINE | re.IGNORECASE)),
)
_JEKYLL_BASE = re.compile(r"^baseurl:[ \t]*[\"']?(/[^\s\"'#]*)", re.MULTILINE)
_LARGEST_CONFIG = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """``web`` is the address of a file with ``{path}`` in it; ``site`` that of the published site, "" if not known."""

    root: Path
    web: str
    site: str = ""

    def url_of(self, path: Path) -> str:
        """The file on the web, "" for one outside of the checkout."""
        try:
            inside = path.relative_to(self.root)
        except ValueError:
            return ""
        return self.web.replace("{path}", quote(inside.as_posix().encode("utf-8", "surrogateescape"), safe="/~-._"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file in a checkout: what its front matter and its relative links mean."""

    checkout: Checkout
    path: Path

    def url(self, front: FrontMatter) -> str:
        """The page on its own site where front matter says enough, else the file at its host."""
        if front.url:
            return front.url
        if front.path and self.checkout.site:
            return self.checkout.site + front.path
        return self.checkout.url_of(self.path)

    def link(self, target: str) -> str:
        """The web address that a relative link leads to, "" when nothing in the checkout answers to it."""
        parts = urlsplit(target)
        if not parts.path or parts.netloc or "\x00" in parts.path:
            return ""
        written = unquote(parts.path)
        bases = [self.path.parent]
        if written.startswith("/"):  # from the root of the documentation, which may be any folder above
            bases += [each for each in self.path.parents if each.is_relative_to(self.checkout.root)]
        found = next((file for base in bases if (file := _file(base / written.lstrip("/"), self.checkout.root))), None)
        if found is None:
            return self.checkout.site + parts.path if self.checkout.site and written.startswith("/") else ""
        return self.checkout.url_of(found) + (f"#{parts.fragment}" if parts.fragment else "")


def _file(path: Path, root: Path) -> Path | None:
    """The file itself, or the page that a link without a suffix (or with that of the built page) means."""
    bare = str(path).rstrip("/")
    bases = [bare, re.sub(r"\.html?$", "", bare)]
    for candidate in (Path(base + suffix) for base in dict.fromkeys(bases) for suffix in ("", *_PAGES)):
        try:
            inside = candidate.resolve()
            if inside.is_file() and inside.is_relative_to(root):
                return inside
        except (OSError, ValueError):
            return None
    return None


class Checkouts:
    """The checkouts of one run, each looked at once: a later run may find another branch there."""

    def __init__(self) -> None:
        self._known: dict[Path, Checkout | None] = {}

    def place_of(self, path: Path) -> Place | None:
        """The place of a file (absolute, links resolved), None when it is in no checkout from a known public host."""
        folder = path.parent
        if folder not in self._known:
            tree = work_tree(folder)
            web = _web(tree.remote, tree.ref) if tree else ""
            self._known[folder] = (
                Checkout(root=tree.root, web=web, site=_site(tree.root, folder)) if tree and web else None
            )
        checkout = self._known[folder]
        return Place(checkout=checkout, path=path) if checkout else None


def _web(remote: str, ref: str) -> str:
    """The address of a file with ``{path}`` in it. User names, passwords and ports of the remote are left behind."""
    scp = _SCP.fullmatch(remote)
    try:
        parts = urlsplit(remote)
        host, path = (scp[1], scp[2]) if scp else (parts.hostname or "", parts.path)
    except ValueError:
        return ""
    if not scp and parts.scheme not in ("https", "http", "ssh", "git", "git+ssh"):
        return ""
    host = host.lower().removeprefix("www.")
    repository = unquote(path).strip("/").removesuffix(".git")
    if host not in _HOSTS or not _REPOSITORY.fullmatch(repository) or ".." in repository:
        return ""
    pattern = _HOSTS[host].replace("{repository}", repository).replace("{ref}", quote(ref, safe="/-._~+"))
    return f"https://{host}/{pattern}"


def _site(root: Path, folder: Path) -> str:
    """The address of the published site, from the configuration of its generator."""
    for place in (folder, *folder.parents):
        if not place.is_relative_to(root):
            break
        for name, pattern in _SITE:
            config = place / name
            try:
                if config.is_file() and config.stat().st_size <= _LARGEST_CONFIG:
                    text = config.read_text(encoding="utf-8", errors="replace")
                    match = pattern.search(text)
                    if match and "@" not in urlsplit(match[1]).netloc:
                        base = _JEKYLL_BASE.search(text) if name == "_config.yml" else None
                        return match[1].rstrip("/") + (base[1].rstrip("/") if base else "")
            except OSError:
                continue
    return ""
