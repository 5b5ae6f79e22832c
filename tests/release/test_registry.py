"""server.json and the bundle: what registries and desktop clients accept, and that they start what they say."""

import json
import re
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from release.build import sha256
from release.bundle import bundle_manifest
from release.lock import pins
from release.project import ROOT, project
from release.registry import released_server_json, server_json
from tests.release.building import LISTING, Built, listed, run

ABOUT = project()
BESIDE_TOOLS = ["pyproject.toml", "LICENSE", ".python-version", "server/main.py", "manifest.json"]


def test_server_json_keeps_to_the_rules_of_the_registry() -> None:
    told = server_json(ABOUT)
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", told["name"])
    assert 0 < len(told["description"]) <= 100
    assert 0 < len(told["title"]) <= 100
    assert set(told) == {
        "$schema",
        "name",
        "title",
        "description",
        "version",
        "websiteUrl",
        "repository",
        "packages",
    }
    (package,) = told["packages"]
    assert package["transport"] == {"type": "stdio"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])


def test_the_released_server_json_names_the_bundle_with_its_hash(built: Built) -> None:
    told = json.loads(built.the("server.json").read_text())
    package = told["packages"][1]
    assert package["registryType"] == "mcpb"
    assert package["fileSha256"] == sha256(built.the(".mcpb"))
    # The registry wants to see what it is in the address.
    assert "mcp" in package["identifier"]
    assert package["identifier"] == ABOUT.download(built.the(".mcpb").name)


def test_an_image_is_named_only_if_somebody_pushed_one(tmp_path: Path) -> None:
    bundle = tmp_path / "x.mcpb"
    kinds = [
        [one["registryType"] for one in released_server_json(ABOUT, bundle, "0" * 64, image)["packages"]]
        for image in (None, "registry.test/qortal-mcp:1")
    ]
    assert kinds == [["pypi", "mcpb"], ["pypi", "mcpb", "oci"]]


def test_what_server_json_says_starts_the_server() -> None:
    (package,) = server_json(ABOUT)["packages"]
    words = [argument["value"] for argument in package["packageArguments"]]
    variables = {one["name"]: one["default"] for one in package["environmentVariables"]}
    del variables["QORTAL_MCP_NODE"]  # the sample chain is the node here
    told = run([sys.executable, "-m", "qortal_mcp", *words, "--sample"], stdin=LISTING, env=variables)
    assert listed(told)[0] == "get_node_status"


@pytest.fixture
def bundle(built: Built, tmp_path: Path) -> Path:
    with zipfile.ZipFile(built.the(".mcpb")) as archive:
        archive.extractall(tmp_path)
    return tmp_path


def test_the_bundle_holds_the_package_and_what_uv_needs(bundle: Path) -> None:
    found = {file.relative_to(bundle).as_posix() for file in bundle.rglob("*") if file.is_file()}
    package = ROOT / "src/qortal_mcp"
    ours = {
        f"server/qortal_mcp/{file.relative_to(package).as_posix()}"
        for file in package.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    assert found == {*ours, *BESIDE_TOOLS}


def test_the_bundle_installs_exactly_the_locked_versions(bundle: Path) -> None:
    installed = tomllib.loads((bundle / "pyproject.toml").read_text())["project"]["dependencies"]
    assert installed == [pin.requirement for pin in pins()]
    assert len(installed) > len(ABOUT.dependencies)
    assert all("==" in one for one in installed)


def test_the_manifest_of_the_bundle_says_how_uv_starts_it(bundle: Path) -> None:
    told = json.loads((bundle / "manifest.json").read_text())
    assert told == json.loads(json.dumps(bundle_manifest(ABOUT)))
    assert (told["manifest_version"], told["server"]["type"]) == ("0.4", "uv")
    assert (bundle / told["server"]["entry_point"]).is_file()
    config = told["server"]["mcp_config"]
    asked_for = {f"${{user_config.{name}}}" for name in told["user_config"]}
    assert set(config["env"].values()) == asked_for
    # Hosts read this as a range of versions: with a comma in it they warn.
    assert "," not in told["compatibility"]["runtimes"]["python"]


def test_what_the_bundle_says_starts_the_server(bundle: Path) -> None:
    """As uv would: Python of an environment with the dependencies, and the words after the file."""
    told = json.loads((bundle / "manifest.json").read_text())
    config = told["server"]["mcp_config"]
    assert config["command"] == "uv"
    entry = config["args"].index(told["server"]["entry_point"])
    assert config["args"][:entry] == ["run", "--no-sync", "--directory", "${__dirname}"]
    words = [sys.executable, *config["args"][entry:], "--sample"]
    assert listed(run(words, stdin=LISTING, cwd=bundle)) == [tool["name"] for tool in told["tools"]]


def test_the_code_of_the_bundle_is_its_own_and_not_the_installed_one(bundle: Path) -> None:
    package = bundle / "server/qortal_mcp/__init__.py"
    package.write_text(package.read_text().replace(f'"{ABOUT.version}"', '"0.0.77"'))
    assert "0.0.77" in run([sys.executable, "server/main.py", "--version"], cwd=bundle)
