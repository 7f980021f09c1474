"""Builds what hosts and registries install from: the .mcpb bundle, and server.json for the MCP registry.

    scripts/bundle                                       dist/harry-mcp-VERSION.mcpb
    scripts/bundle --name io.github.OWNER/harry-mcp      and dist/server.json, which names the package of this version
    ... --repository https://github.com/OWNER/harry_mcp  with where the source is
    ... --bundle-url https://.../harry-mcp-0.1.0.mcpb    with where the bundle will be, and its checksum

All that both say comes from pyproject.toml. The bundle holds the source and pyproject.toml and no dependency: the host
runs it with uv, which installs what fits the machine. The same tree gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bundle_options import chosen, source_of

ROOT = Path(__file__).resolve().parents[1]
MANIFEST_VERSION = "0.4"
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# What the registry takes of a description.
SHORTEST = 100
# Zip has no time before 1980; a fixed one keeps the bytes the same.
MOMENT = (1980, 1, 1, 0, 0, 0)
ENTRY = '''"""Serves on standard input and output; what a host starts that has unpacked the bundle."""

import sys

from harry_mcp.cli.main import main

if __name__ == "__main__":
    sys.argv = ["harry", "serve"]
    main()
'''

# What a person is asked when it is installed: variable, kind, title, description, whether it is a secret.
ASKED = (
    (
        "HARRY_DATA_DIR",
        "directory",
        "Data folder",
        "Where the knowledge base is kept. Empty: the usual place of this machine.",
        False,
    ),
    (
        "HARRY_PROFILE",
        "file",
        "Domain profile",
        "A TOML file with subject, glossary, topics and web allow-list. Empty: none.",
        False,
    ),
    (
        "HARRY_DATABASE_URL",
        "string",
        "PostgreSQL",
        "A shared PostgreSQL with pgvector, postgresql://... Empty: one of its own, which it starts itself.",
        True,
    ),
    (
        "ANTHROPIC_API_KEY",
        "string",
        "Anthropic API key",
        "For ranking and contexts by Claude. Empty: local models do it.",
        True,
    ),
    ("VOYAGE_API_KEY", "string", "Voyage API key", "For embeddings by Voyage AI. Empty: a local model embeds.", True),
    ("TAVILY_API_KEY", "string", "Tavily API key", "For the web fallback. Empty: there is none.", True),
)


def main() -> None:
    """Build into the folder that is named."""
    options = chosen(__doc__ or "", ROOT / "dist")
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    bundle = options.out / f"{project['name']}-{project['version']}.mcpb"
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        write_bundle(bundle, text, manifest(project, options.repository))
    except OSError as error:
        sys.exit(f"{bundle} cannot be written: {error.strerror or error}.")
    print(f"{bundle}: {bundle.stat().st_size / 1e6:.1f} MB")
    if not options.name:
        print("no server.json: name it with --name io.github.OWNER/harry-mcp")
        return
    marker = f"mcp-name: {options.name}"
    if marker not in (ROOT / "README.md").read_text(encoding="utf-8"):
        print(f"The registry will ask for a line `{marker}` in README.md, where it may be a comment.", file=sys.stderr)
    server = server_json(project, options.name, options.repository, bundle, options.bundle_url)
    place = options.out / "server.json"
    place.write_text(json.dumps(server, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(place)


def manifest(project: dict[str, Any], repository: str) -> dict[str, Any]:
    """The manifest of the bundle."""
    secrets = {name: {"sensitive": True} for name, _, _, _, secret in ASKED if secret}
    told: dict[str, Any] = {
        "manifest_version": MANIFEST_VERSION,
        "name": project["name"],
        "display_name": "harry",
        "version": project["version"],
        "description": project["description"],
        "author": {"name": author(project)},
        "license": project["license"],
        "keywords": project.get("keywords", ["knowledge base", "rag", "search"]),
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py"],
                "env": {name: f"${{user_config.{key(name)}}}" for name, *_ in ASKED},
            },
        },
        # What is left empty becomes an empty variable, which counts as not set.
        "user_config": {
            key(name): {
                "type": kind,
                "title": title,
                "description": description,
                "required": False,
                "default": "",
                **secrets.get(name, {}),
            }
            for name, kind, title, description, _ in ASKED
        },
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": project["requires-python"].replace(",", " ")},
        },
    }
    if repository:
        told["repository"] = {"type": "git", "url": repository}
    return told


def server_json(project: dict[str, Any], name: str, repository: str, bundle: Path, url: str) -> dict[str, Any]:
    """The entry of the registry: the package of exactly this version, and the bundle where it has an address."""
    variables = [
        {"name": variable, "description": description, "isRequired": False, "isSecret": secret}
        for variable, _, _, description, secret in ASKED
    ]
    packages: list[dict[str, Any]] = [
        {
            "registryType": "pypi",
            "identifier": project["name"],
            "version": project["version"],
            "runtimeHint": "uvx",
            # The package's command has another name than the package.
            "runtimeArguments": [
                {"type": "named", "name": "--from", "value": f"{project['name']}=={project['version']}"},
                {"type": "positional", "value": next(iter(project["scripts"]))},
            ],
            "packageArguments": [{"type": "positional", "value": "serve"}],
            "transport": {"type": "stdio"},
            "environmentVariables": variables,
        }
    ]
    if url:
        checksum = hashlib.sha256(bundle.read_bytes()).hexdigest()
        packages.append(
            {"registryType": "mcpb", "identifier": url, "fileSha256": checksum, "transport": {"type": "stdio"}}
        )
    told: dict[str, Any] = {
        "$schema": SERVER_SCHEMA,
        "name": name,
        "title": "harry",
        "description": short(project["description"]),
        "version": project["version"],
        "packages": packages,
    }
    if repository:
        told["repository"] = {"url": repository, "source": source_of(repository)}
    return told


def write_bundle(place: Path, pyproject: str, told: dict[str, Any]) -> None:
    """Zip the source with what tells a host how to start it."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        put(bundle, "manifest.json", json.dumps(told, indent=2, ensure_ascii=False).encode())
        put(bundle, "server.py", ENTRY.encode())
        put(bundle, "pyproject.toml", for_use(pyproject).encode())
        for name in ("README.md", "LICENSE"):
            put(bundle, name, (ROOT / name).read_bytes())
        for path in source():
            put(bundle, path.relative_to(ROOT).as_posix(), path.read_bytes())


def put(bundle: zipfile.ZipFile, name: str, content: bytes) -> None:
    """One file, readable by all, of no particular time."""
    info = zipfile.ZipInfo(name, MOMENT)
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    bundle.writestr(info, content)


def source() -> Iterator[Path]:
    """The files of the package."""
    for path in sorted((ROOT / "harry_mcp").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
            yield path


def for_use(pyproject: str) -> str:
    """pyproject.toml without what only developers need: uv would install their groups too."""
    sections = re.split(r"(?m)^(?=\[)", pyproject)
    return "".join(s for s in sections if not s.startswith("[dependency-groups]") and wanted(s))


def wanted(section: str) -> bool:
    """Whether a section is for more than the tools of developers."""
    return not section.startswith("[tool.") or section.startswith("[tool.hatch.build.targets.wheel")


def author(project: dict[str, Any]) -> str:
    """The first author, else who holds the copyright."""
    if authors := project.get("authors"):
        return authors[0]["name"]
    found = re.search(r"Copyright \(c\) \d+ (.+)", (ROOT / "LICENSE").read_text(encoding="utf-8"))
    return found[1].strip() if found else project["name"]


def key(variable: str) -> str:
    """How the manifest names the answer for a variable."""
    return variable.lower().removeprefix("harry_")


def short(description: str) -> str:
    """A description that the registry takes: cut where a part of the sentence ends."""
    if len(description) <= SHORTEST:
        return description
    ends = [m.start() for m in re.finditer(r"[:;,.](?= |$)", description) if m.start() <= SHORTEST]
    return description[: ends[-1]] if ends else description[: SHORTEST - 1] + "…"


if __name__ == "__main__":
    main()
