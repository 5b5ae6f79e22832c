"""The wheel and the sdist: what is in them, that they can be built again, and that what they install works."""

import email
import json
import tarfile
import zipfile
from pathlib import Path

import pytest
from release.build import sha256
from release.moment import VARIABLE, source_moment
from release.packages import built as built_by_backend
from release.packages import wheel_from
from release.project import ROOT, project
from release.readme import relative_links, released
from tests.release.building import HANDSHAKE, Built, installed, run

ABOUT = project()
PACKAGE = "src/qortal_mcp"
# What the product reads besides its modules, by where it is used.
DATA = ("console/static/index.html", "console/static/main.js", "qortal/tools/definitions.json", "py.typed")
# Of the tree, but not of what is handed out: git's own file.
NOT_HANDED_OUT = {".git", ".gitattributes"}


def names_in_wheel(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def names_in_sdist(sdist: Path) -> set[str]:
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def files_of(folder: Path) -> set[str]:
    return {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    beside = f"qortal_mcp-{ABOUT.version}.dist-info/"
    found = {name for name in names_in_wheel(built.the(".whl")) if not name.startswith(beside)}
    assert found == {f"qortal_mcp/{name}" for name in files_of(ROOT / PACKAGE)}
    assert {f"qortal_mcp/{name}" for name in DATA} <= found
    assert any(name.startswith("qortal_mcp/qortal/sample/") and name.endswith(".json") for name in found)


def test_the_sdist_holds_every_folder_and_file_of_the_tree(built: Built) -> None:
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines()} | NOT_HANDED_OUT
    wanted = {
        entry.name
        for entry in ROOT.iterdir()
        if entry.name not in ignored and not entry.name.startswith(".coverage")
    }
    found = names_in_sdist(built.the(".tar.gz"))
    assert wanted <= {name.partition("/")[0] for name in found}
    assert {f"tests/{name}" for name in files_of(ROOT / "tests")} <= found
    assert not [name for name in found if "__pycache__" in name or name.endswith(".pyc")]


@pytest.mark.promise("Release", "Whoever builds a release again from the same commit gets the same bytes.")
def test_a_second_build_gives_the_same_bytes(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(source_moment(ROOT)))
    again = Built(tmp_path / "dist")
    assert {name: sha256(file) for name, file in again.files.items()} == {
        name: sha256(file) for name, file in built.files.items()
    }


def test_another_moment_is_another_file(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(source_moment(ROOT) + 86_400))
    assert sha256(Built(tmp_path / "dist").the(".mcpb")) != sha256(built.the(".mcpb"))


def test_the_sdist_builds_the_same_wheel_and_the_same_sdist(built: Built, tmp_path: Path) -> None:
    moment = source_moment(ROOT)
    assert sha256(wheel_from(built.the(".tar.gz"), tmp_path, moment)) == sha256(built.the(".whl"))
    with tarfile.open(built.the(".tar.gz")) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (tree,) = (tmp_path / "unpacked").iterdir()
    (tree / "PKG-INFO").unlink()  # the backend writes it
    assert sha256(built_by_backend("build_sdist", tree, tmp_path, moment)) == sha256(built.the(".tar.gz"))


def test_the_checksums_are_those_of_the_files(built: Built) -> None:
    lines = [line.split() for line in built.the("SHA256SUMS").read_text().splitlines()]
    assert {name: digest for digest, name in lines} == {
        name: sha256(file) for name, file in built.files.items() if not name.endswith("SHA256SUMS")
    }


def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read(f"qortal_mcp-{ABOUT.version}.dist-info/METADATA"))


def test_the_metadata_is_complete(built: Built) -> None:
    told = metadata(built.the(".whl"))
    single = {
        "Name": ABOUT.name,
        "Version": ABOUT.version,
        "Summary": ABOUT.description,
        "License-Expression": "MIT",
        "License-File": "LICENSE",
        "Requires-Python": ABOUT.requires_python,
        "Description-Content-Type": "text/markdown",
    }
    assert {name: told[name] for name in single} == single
    urls = dict(one.split(", ") for one in told.get_all("Project-URL", []))
    assert {"Repository", "Documentation", "Changelog", "Issues"} == set(urls)
    assert all(url.startswith(ABOUT.repository) for url in urls.values())
    assert told["Keywords"]
    assert told["Author"] or told["Author-email"]


@pytest.mark.promise("Release", "The links of the README work where a package index shows it.")
def test_the_description_of_the_wheel_has_no_link_that_needs_the_tree(built: Built) -> None:
    shown = str(metadata(built.the(".whl")).get_payload())
    assert relative_links(shown) == []
    assert f"]({ABOUT.repository}/blob/{ABOUT.tag}/docs/tools.md)" in shown
    assert f"]({ABOUT.repository}/raw/{ABOUT.tag}/docs/images/overview.png)" in shown
    # The registry of MCP servers looks for this line there.
    assert f"<!-- mcp-name: {ABOUT.registry_name} -->\n" in shown


def test_every_relative_link_of_the_readme_names_a_file() -> None:
    links = relative_links((ROOT / "README.md").read_text())
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []


LINKS = [
    ("[a](docs/a.md)", f"[a]({ABOUT.repository}/blob/{ABOUT.tag}/docs/a.md)"),
    ("[a](docs/a.md#part)", f"[a]({ABOUT.repository}/blob/{ABOUT.tag}/docs/a.md#part)"),
    ("![a](docs/a.png)", f"![a]({ABOUT.repository}/raw/{ABOUT.tag}/docs/a.png)"),
    (
        "[a](#part) [b](https://qortal.dev) [c](mailto:a@b)",
        "[a](#part) [b](https://qortal.dev) [c](mailto:a@b)",
    ),
    ("`list[0](x)` stays code", "`list[0](x)` stays code"),
    ("```py\na[0](x)\n```", "```py\na[0](x)\n```"),
    ("[`a`](b.md)", f"[`a`]({ABOUT.repository}/blob/{ABOUT.tag}/b.md)"),
]


@pytest.mark.parametrize(("written", "shown"), LINKS)
def test_only_links_to_files_are_made_absolute(written: str, shown: str) -> None:
    assert released(written, ABOUT) == shown


@pytest.fixture(scope="module")
def program(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(built.the(".whl"), tmp_path_factory.mktemp("installed"))


@pytest.mark.promise("Release", "The built wheel is installed and run before it is handed out.")
def test_the_installed_wheel_tells_its_version_and_answers(program: Path, tmp_path: Path) -> None:
    assert run([str(program), "--version"], cwd=tmp_path).split()[-1] == ABOUT.version
    told = json.loads(run([str(program), "version", "--json"], cwd=tmp_path))
    assert told["version"] == ABOUT.version
    answer = run([str(program), "call", "get_name", "name=Bob", "--sample", "--json"], cwd=tmp_path)
    assert json.loads(answer)["name"] == "Bob"


def test_the_installed_wheel_is_not_the_tree(program: Path, tmp_path: Path) -> None:
    where = "import qortal_mcp; print(qortal_mcp.__file__)"
    found = Path(run([str(program.with_name("python")), "-c", where], cwd=tmp_path).strip())
    assert found.is_relative_to(program.parent.parent)


def test_the_installed_wheel_shakes_hands_over_stdio(program: Path, tmp_path: Path) -> None:
    reply = run([str(program), "stdio", "--sample"], stdin=HANDSHAKE, cwd=tmp_path)
    result = json.loads(reply)["result"]
    assert result["serverInfo"]["version"] == ABOUT.version
    assert result["protocolVersion"] == "2025-11-25"
