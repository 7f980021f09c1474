"""MCP-9: the bundle and the registry entry are what their schemas ask for, and the unpacked bundle answers a client."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from harry_mcp.settings import KEYS, Settings, child_environment, setting_names

pytestmark = pytest.mark.promise("MCP-9")

ROOT = Path(__file__).parents[2]
SCHEMAS = Path(__file__).parent / "schemas"
NAME = "io.github.example/harry-mcp"
REPOSITORY = "https://github.com/example/harry_mcp"
URL = "https://github.com/example/harry_mcp/releases/download/v0/harry.mcpb"


def build(out: Path, *arguments: str) -> str:
    """Run the script itself, with the environment that is there already."""
    command = [sys.executable, str(ROOT / "scripts" / "bundle.py"), "--out", str(out), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True, timeout=60).stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    build(out, "--name", NAME, "--repository", REPOSITORY, "--bundle-url", URL)
    return out


@pytest.fixture(scope="module")
def bundle(built: Path) -> Path:
    (found,) = built.glob("*.mcpb")
    return found


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def schema(name: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / name).read_text(encoding="utf-8"))


def checked(value: Any, name: str) -> None:
    validator: Any = jsonschema.Draft7Validator(schema(name), format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(value)] == []


def manifest_of(bundle: Path) -> dict[str, Any]:
    with zipfile.ZipFile(bundle) as opened:
        return json.loads(opened.read("manifest.json"))


def test_the_manifest_is_valid_and_says_what_the_project_says(bundle: Path, project: dict[str, Any]) -> None:
    manifest = manifest_of(bundle)
    checked(manifest, "mcpb-manifest-0.4.json")
    assert (manifest["name"], manifest["version"]) == (project["name"], project["version"])
    assert manifest["description"] == project["description"]
    assert manifest["compatibility"]["runtimes"]["python"] == ">=3.11 <3.15"
    with pytest.raises(AssertionError):
        checked({**manifest, "surprise": 1}, "mcpb-manifest-0.4.json")
    config, asked = manifest["server"]["mcp_config"], manifest["user_config"]
    assert set(config["env"]) <= {*setting_names(), *KEYS}
    for variable, value in config["env"].items():
        (named,) = re.findall(r"\$\{user_config\.(\w+)\}", value)
        assert asked[named].get("sensitive", False) == (variable.endswith("KEY") or variable == "HARRY_DATABASE_URL")
        assert asked[named]["default"] == ""  # a host leaves the words of a variable that has none


def test_the_registry_entry_is_valid(built: Path, bundle: Path, project: dict[str, Any]) -> None:
    server: dict[str, Any] = json.loads((built / "server.json").read_text(encoding="utf-8"))
    checked(server, "server-2025-12-11.json")
    assert server["$schema"] == schema("server-2025-12-11.json")["$id"]
    assert (server["name"], server["version"]) == (NAME, project["version"])
    assert project["description"].startswith(server["description"].rstrip("…"))
    package, packed = server["packages"]
    assert (package["identifier"], package["version"]) == (project["name"], project["version"])
    # What a client makes of it: uvx --from harry-mcp==VERSION harry serve
    words = [word for each in package["runtimeArguments"] for word in (each.get("name"), each["value"]) if word]
    assert words == ["--from", f"{project['name']}=={project['version']}", "harry"]
    assert [each["value"] for each in package["packageArguments"]] == ["serve"]
    assert "harry" in project["scripts"]
    assert packed["fileSha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()
    with pytest.raises(AssertionError):
        checked({**server, "description": "x" * 101}, "server-2025-12-11.json")


def test_the_bundle_holds_the_package_and_nothing_of_this_machine(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as opened:
        names = set(opened.namelist())
        texts = b"".join(opened.read(name) for name in ("pyproject.toml", "server.py", "manifest.json"))
        pyproject = tomllib.loads(opened.read("pyproject.toml").decode())
    tracked = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "harry_mcp"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(tracked) <= names
    assert not [name for name in names if name.endswith(".pyc") or name.startswith((".", "/")) or ".." in name]
    assert "dependency-groups" not in pyproject
    assert set(pyproject.get("tool", {})) == {"hatch"}
    assert pyproject["project"]["readme"] in names
    assert str(ROOT).encode() not in texts
    assert bundle.stat().st_size < 3_000_000
    build(tmp_path)
    (again,) = tmp_path.glob("*.mcpb")
    with zipfile.ZipFile(again) as opened:
        assert opened.read("pyproject.toml") in texts
    assert not (tmp_path / "server.json").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        *(
            (("--name", name), "is no name of the registry")
            for name in ("harry", "a/b/c", "io.github.x/", "/harry", "io.github.x/ha rry", "io_x/harry", "ö/harry")
        ),
        (("--name", "a/" + "b" * 199), "is no name of the registry"),
        (("--name", f"{NAME}\n"), "is no name of the registry"),
        (("--repository", "http://github.com/x/y"), "is no address that begins with https://"),
        (("--repository", "github.com/x/y"), "is no address that begins with https://"),
        (("--repository", "https://user:pw@github.com/x/y"), "is no address that begins with https://"),
        (("--repository", "https://example.com/x/y"), "is no repository that the registry takes"),
        (("--repository", "https://github.com/x"), "is no repository that the registry takes"),
        (("--name", NAME, "--bundle-url", "https://x.example/a mcp.zip"), "is no address that begins with https://"),
        (("--name", NAME, "--bundle-url", "https://[mcp/x"), "is no address that begins with https://"),
        (("--name", NAME, "--bundle-url", "https://x.example/harry.zip"), "names no file that the registry takes"),
        (("--bundle-url", URL), "is written with --name alone"),
        (("--out", __file__), "is no folder"),
    ],
)
def test_what_it_cannot_use_is_refused_before_anything_is_written(
    tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        build(tmp_path / "out", *options)
    assert refused.value.returncode == 2
    assert sentence in " ".join(refused.value.stderr.split())
    assert not (tmp_path / "out").exists()


def test_names_that_are_taken_are_those_of_the_schema(tmp_path: Path) -> None:
    for name, repository, source in (
        ("a/b", "https://gitlab.com/group/below/harry", "gitlab"),
        ("com.example-1/Harry_2.0", "https://www.github.com/x/y.z/", "github"),
    ):
        build(tmp_path, "--name", name, "--repository", repository)
        server = json.loads((tmp_path / "server.json").read_text(encoding="utf-8"))
        checked(server, "server-2025-12-11.json")
        assert (server["name"], server["repository"]) == (name, {"url": repository, "source": source})


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(subprocess.CalledProcessError) as refused:
        build(tmp_path / "file" / "out")
    assert refused.value.returncode == 1
    assert refused.value.stderr.strip().endswith("cannot be written: Not a directory.")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_unpacked_bundle_starts_and_answers(
    bundle: Path, settings: Settings, tmp_path: Path, mode: str
) -> None:
    place = tmp_path / "a bundle"
    with zipfile.ZipFile(bundle) as opened:
        opened.extractall(place)
    server = manifest_of(bundle)["server"]
    asked = {"database_url": settings.database_url.get_secret_value()}
    command, arguments = _started(server["mcp_config"], place)
    environment = {
        variable: re.sub(r"\$\{user_config\.(\w+)\}", lambda m: asked.get(m[1], ""), value)
        for variable, value in server["mcp_config"]["env"].items()
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **environment}
    parameters = StdioServerParameters(command=command, args=arguments, env=environment, cwd=tmp_path)
    async with Client(parameters, mode=mode) as client:
        assert client.server_info is not None
        assert client.server_info.version == manifest_of(bundle)["version"]
        assert (await client.list_tools()).tools[0].name == "search_kb"
        result = await client.call_tool("search_kb", {"query": "anything at all"})
        assert result.structured_content is not None
        assert result.structured_content["status"] == "empty"


def _started(config: dict[str, Any], place: Path) -> tuple[str, list[str]]:
    """The command as a host fills it in; uv's part is done by this environment, whose packages are uv's."""
    arguments = [word.replace("${__dirname}", str(place)) for word in config["args"]]
    assert (config["command"], arguments[:3]) == ("uv", ["run", "--directory", str(place)])
    return sys.executable, [str(place / arguments[3])]


def test_the_unpacked_code_is_the_one_that_runs(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as opened:
        opened.extractall(tmp_path)
    probe = tmp_path / "probe.py"
    probe.write_text("import harry_mcp; print(harry_mcp.__file__)", encoding="utf-8")
    found = subprocess.run(
        [sys.executable, str(probe)], capture_output=True, text=True, check=True, env=child_environment(PYTHONPATH="")
    ).stdout.strip()
    assert Path(found).is_relative_to(tmp_path)
