"""What a git work tree says of where it came from: read as text, so that no git is needed and nothing is run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_LARGEST = 2_000_000  # bytes of a file of git's that is read
_SECTION = re.compile(r"\s*\[\s*([\w.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*(.*)")
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"(?!.*(?:\.\.|//|@\{))[\w][\w./+-]{0,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """``remote`` is the address as git has it, credentials and all: it must not be shown. ``ref`` is what is checked
    out: a branch that the remote has, a tag, else ``HEAD``, which hosts take for their default branch.
    """

    root: Path
    remote: str
    ref: str


def work_tree(folder: Path) -> WorkTree | None:
    """The work tree that holds ``folder``, None when there is none or it has no remote."""
    for root in (folder, *folder.parents):
        git = _git_directory(root / ".git")
        if git is None:
            continue
        common = _common_directory(git)
        config = _config(_read(common / "config"))
        name = next((each for each in ("origin", "upstream") if (f"remote.{each}", "url") in config), "")
        name = name or next((key[0].partition(".")[2] for key in config if key[0].startswith("remote.")), "")
        remote = config.get((f"remote.{name}", "url"), "")
        return WorkTree(root=root, remote=remote, ref=_ref(git, common, config, name)) if remote else None
    return None


def _git_directory(place: Path) -> Path | None:
    """The repository behind ``.git``: a folder, or the folder that a file names in a submodule or linked work tree."""
    try:
        if place.is_dir():
            return place if (place / "HEAD").is_file() else None
        if place.is_file() and (match := re.match(r"gitdir:[ \t]*(.+)", _read(place))):
            git = (place.parent / match[1].strip()).resolve()
            return git if (git / "HEAD").is_file() else None
    except (OSError, ValueError):
        return None
    return None


def _common_directory(git: Path) -> Path:
    """Where the configuration is: of a linked work tree, in the repository that it belongs to."""
    named = _read(git / "commondir").strip()
    return (git / named).resolve() if named and "\x00" not in named else git


def _ref(git: Path, common: Path, config: dict[tuple[str, str], str], remote: str) -> str:
    head = _read(git / "HEAD").strip()
    if match := re.fullmatch(r"ref:\s*refs/heads/(.+)", head):
        branch = match[1]
        tracked = config.get((f"branch.{branch}", "merge"), "").removeprefix("refs/heads/")
        if tracked and config.get((f"branch.{branch}", "remote")) == remote:
            return tracked if _REF.fullmatch(tracked) else "HEAD"
        known = f"refs/remotes/{remote}/{branch}"
        there = _REF.fullmatch(branch) and ((common / known).is_file() or f" {known}\n" in _packed(common))
        return branch if there else "HEAD"
    return _tag(common, head) if _SHA.fullmatch(head) else "HEAD"


def _tag(common: Path, sha: str) -> str:
    """The name of the tag that stands at a commit; the commit itself would change all addresses with each pull."""
    name = ""
    for line in _packed(common).split("\n"):
        commit, _, ref = line.removeprefix("^").partition(" ")
        if not line.startswith("^"):
            name = ref.removeprefix("refs/tags/") if ref.startswith("refs/tags/") else ""
        if commit == sha and name and _REF.fullmatch(name):
            return name
    try:
        for tag in sorted((common / "refs" / "tags").iterdir()):
            if _REF.fullmatch(tag.name) and _read(tag).strip() == sha:
                return tag.name
    except OSError:
        return "HEAD"
    return "HEAD"


def _packed(common: Path) -> str:
    return _read(common / "packed-refs") + "\n"


def _config(text: str) -> dict[tuple[str, str], str]:
    """(section, name) to value; a subsection stands after a dot. Nothing is included from elsewhere."""
    found: dict[tuple[str, str], str] = {}
    section = ""
    for line in text.split("\n"):
        rest = line
        if match := _SECTION.match(line):
            section = f"{match[1].lower()}.{match[2]}" if match[2] is not None else match[1].lower()
            rest = match[3]
        if setting := _SETTING.fullmatch(rest):
            value = re.sub(r"\s+[#;].*\Z", "", setting[2]).strip().strip('"')
            found.setdefault((section, setting[1].lower()), value)
    return found


def _read(path: Path) -> str:
    try:
        if path.is_file() and path.stat().st_size <= _LARGEST:
            return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return ""
