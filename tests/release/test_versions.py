"""One version and one name: every file that repeats them says the same as the package."""

import json
import re
from collections.abc import Callable

import pytest
from release.project import ROOT, project
from tests.release.building import Built

ABOUT = project()


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def first_change_log_section() -> str:
    found = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)
    assert found
    return found.group(1)


VERSIONS: dict[str, Callable[[], str]] = {
    "mcp-manifest.json": lambda: json.loads(text("mcp-manifest.json"))["version"],
    "server.json": lambda: json.loads(text("server.json"))["version"],
    "server.json, package": lambda: json.loads(text("server.json"))["packages"][0]["version"],
    "CHANGELOG.md": first_change_log_section,
}
NAMES: dict[str, Callable[[], str]] = {
    "server.json": lambda: json.loads(text("server.json"))["name"],
    "README.md": lambda: re.findall(r"<!-- mcp-name: (\S+) -->", text("README.md"))[0],
}


@pytest.mark.promise("Release", "Every file that names the version names the same one.")
@pytest.mark.parametrize("where", VERSIONS)
def test_every_file_names_the_version_of_the_package(where: str) -> None:
    assert VERSIONS[where]() == ABOUT.version


@pytest.mark.parametrize("where", NAMES)
def test_every_file_names_the_server_as_the_registry_does(where: str) -> None:
    assert NAMES[where]() == ABOUT.registry_name


def test_every_built_file_names_the_version(built: Built) -> None:
    with_version = {name for name in built.files if ABOUT.version in name}
    assert with_version == set(built.files) - {"server.json", "SHA256SUMS"}
    packages = json.loads(built.the("server.json").read_text())["packages"]
    assert [package["version"] for package in packages] == [ABOUT.version, ABOUT.version]


def test_no_file_of_the_tree_has_the_address_of_another_project() -> None:
    """The address stands in pyproject.toml; whatever else has one must have the same."""
    owner = ABOUT.repository.rsplit("/", 1)[0]
    for path in ("README.md", "server.json", "pyproject.toml"):
        assert set(re.findall(r"https://github\.com/[\w-]+", text(path))) <= {owner}
