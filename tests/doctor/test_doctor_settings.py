"""Variables and options that no command would accept: reported by `doctor`, and never in the way of the rest."""

from pathlib import Path

import pytest
from tests.doctor.examined import doctor

from qortal_mcp import __version__
from qortal_mcp.connect.program import program

WRONG = [
    pytest.param({"QORTAL_MCP_NOODE": "planted"}, (), "Did you mean QORTAL_MCP_NODE?", id="misspelt"),
    pytest.param({"QORTAL_MCP_LISTEN": "planted"}, (), "QORTAL_MCP_LISTEN must be HOST:PORT", id="value"),
    pytest.param(
        {"QORTAL_MCP_TIMEOUT": "planted"}, (), "QORTAL_MCP_TIMEOUT must be", id="of-another-command"
    ),
    pytest.param(
        {"QORTAL_MCP_NODE": "http://127.0.0.1:1", "QORTAL_MCP_SAMPLE": "true"},
        (),
        "cannot be combined",
        id="two-chains",
    ),
    pytest.param({}, ("--toolsets", "planted"), "there is no toolset", id="toolset"),
    pytest.param(
        {"QORTAL_MCP_NODE": "http://127.0.0.1:1/planted"}, (), "must not have a path", id="path-in-a-node"
    ),
    pytest.param({"QORTAL_MCP_CONFIRM": "2"}, (), "needs 2 different nodes", id="too-few-nodes"),
]


@pytest.mark.promise(
    "Doctor", "A wrong variable is one of the problems that `doctor` reports, and hides none of the others."
)
@pytest.mark.parametrize(("env", "words", "sentence"), WRONG)
def test_a_setting_that_commands_refuse_is_a_problem_and_everything_else_is_examined(
    tmp_path: Path, env: dict[str, str], words: tuple[str, ...], sentence: str
) -> None:
    examined = doctor(tmp_path, *words, env=env)
    found = examined.one("settings")
    assert found["state"] == "problem"
    assert sentence in found["says"]
    assert "refuse to start" in found["advice"]
    assert examined.of("server-token")
    assert examined.code == 1


def test_several_wrong_variables_are_each_named(tmp_path: Path) -> None:
    env = {"QORTAL_MCP_NOODE": "x", "QORTAL_MCP_RATE_LIMIT": "x", "QORTAL_MCP_SAMPLE": "x"}
    said = " ".join(each["says"] for each in doctor(tmp_path, env=env).of("settings"))
    assert all(name in said for name in env)


def test_variables_of_the_earlier_server_are_warnings_with_what_replaces_them(tmp_path: Path) -> None:
    env = {"QORTAL_BASE_URL": "planted", "QORTAL_API_KEY": "planted"}
    examined = doctor(tmp_path, "--sample", env=env)
    key, url = examined.of("earlier-server")
    assert (url["state"], "QORTAL_MCP_NODE" in url["advice"]) == ("warning", True)
    assert "QORTAL_API_KEY" in key["says"]
    assert "planted" not in examined.ended.out + examined.ended.err
    assert examined.ended.err == ""
    assert examined.code == 0


def test_settings_that_are_right_are_said_to_be(tmp_path: Path) -> None:
    examined = doctor(tmp_path, "--sample", env={"QORTAL_MCP_TOOLSETS": "node"})
    assert examined.one("settings")["state"] == "good"
    assert examined.one("tools")["says"] == "2 offered to clients"


@pytest.mark.parametrize("words", [("--frobnicate",), ("--node", "x:1"), ("--listen", "here"), ("extra",)])
def test_a_wrong_flag_is_wrong_usage(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = doctor(tmp_path, *words).ended
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1


def test_the_program_says_which_one_it_is(tmp_path: Path) -> None:
    examined = doctor(tmp_path, "--sample", env={"PATH": str(tmp_path)})
    assert examined.one("version")["says"] == f"{__version__} at {program()[0]}"
    assert examined.one("python")["state"] == "good"


def test_another_program_of_the_same_name_on_the_path_is_a_warning(tmp_path: Path) -> None:
    other = tmp_path / "qortal-mcp"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    examined = doctor(tmp_path, "--sample", env={"PATH": str(tmp_path)})
    _, found = examined.of("version")
    assert found["state"] == "warning"
    assert str(other) in found["says"]
    assert program()[0] in found["advice"]
    other.unlink()
    other.symlink_to(program()[0])
    assert len(doctor(tmp_path, "--sample", env={"PATH": str(tmp_path)}).of("version")) == 1
