"""Settings from a file: the names of options, in TOML, beaten by flags and variables; mistakes are named with their place."""

import os
from pathlib import Path

import pytest
from tests.cli.running import run

from qortal_mcp import settings
from qortal_mcp.settings import ListenOptions, LogOptions, NodeOptions, WrongSetting, read, read_settings_file
from qortal_mcp.settings.groups import GROUPS

COMMANDS = ("serve", "stdio", "call")
KEYS = """\
node = ["http://127.0.0.1:1", "http://127.0.0.1:2"]
listen = "127.0.0.1:9000"
rate-limit = 2.5
without_token = true
log-level = "Warning"
allow-host = "mcp.example"
"""


def file_of(text: str | bytes, folder: Path, command: str = "serve") -> settings.SettingsFile:
    path = folder / "settings.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_settings_file({"config": str(path)}, {}, command, COMMANDS)


@pytest.mark.promise(
    "Command line",
    "Settings may stand in a TOML file, which flags and variables beat and which holds no secret.",
)
def test_the_names_of_options_are_the_keys_of_a_file(tmp_path: Path) -> None:
    file = file_of(KEYS, tmp_path)
    door = read(ListenOptions, {}, {}, file)
    assert (door.listen, door.rate_limit, door.without_token) == ("127.0.0.1:9000", 2.5, True)
    assert door.allow_host == ("mcp.example",)
    assert read(NodeOptions, {}, {}, file).node == ("http://127.0.0.1:1", "http://127.0.0.1:2")
    assert read(LogOptions, {}, {}, file).log_level == "warning"


@pytest.mark.promise(
    "Command line",
    "Settings may stand in a TOML file, which flags and variables beat and which holds no secret.",
)
def test_flags_and_variables_beat_the_file(tmp_path: Path) -> None:
    file = file_of(KEYS, tmp_path)
    environ = {"QORTAL_MCP_LISTEN": "127.0.0.1:7"}
    assert read(ListenOptions, {}, environ, file).listen == "127.0.0.1:7"
    assert read(ListenOptions, {"listen": "127.0.0.1:8"}, environ, file).listen == "127.0.0.1:8"


def test_the_table_of_a_command_is_for_that_command_and_beats_the_rest(tmp_path: Path) -> None:
    text = 'listen = "127.0.0.1:1"\n[serve]\nlisten = "127.0.0.1:2"\n[stdio]\nsample = true\n'
    assert read(ListenOptions, {}, {}, file_of(text, tmp_path)).listen == "127.0.0.1:2"
    other = file_of(text, tmp_path, "call")
    assert read(ListenOptions, {}, {}, other).listen == "127.0.0.1:1"
    assert read(NodeOptions, {}, {}, other).sample is False
    assert read(NodeOptions, {}, {}, file_of(text, tmp_path, "stdio")).sample is True


def test_the_sample_chain_and_a_node_are_settled_by_rank(tmp_path: Path) -> None:
    file = file_of('node = "http://127.0.0.1:1"\n[serve]\nsample = true\n', tmp_path)
    assert read(NodeOptions, {}, {}, file).sample is True
    assert read(NodeOptions, {}, {"QORTAL_MCP_NODE": "http://127.0.0.1:3"}, file).sample is False
    both = file_of('node = "http://127.0.0.1:1"\nsample = true\n', tmp_path)
    with pytest.raises(WrongSetting, match=r"node in .* and sample in .* cannot be combined"):
        read(NodeOptions, {}, {}, both)


BROKEN = [
    pytest.param("listen = =", r"is not TOML: .*line 1", id="not-toml"),
    pytest.param(b"\xff\xfe", r"is not UTF-8 text", id="not-utf8"),
    pytest.param('lisen = "x"', r"Unknown setting lisen in .*\. Did you mean listen\?", id="misspelt"),
    pytest.param("zzz = 1", r"Unknown setting zzz in .*\. docs/settings\.md lists them\.", id="unknown"),
    pytest.param('config = "x"', r"Unknown setting config in ", id="a-file-that-names-a-file"),
    pytest.param("[sreve]\n", r"Unknown table \[sreve\] in .*\. Did you mean serve\?", id="table"),
    pytest.param("[stdio]\nzzz = 1", r"Unknown setting zzz in \[stdio\] of ", id="of-another-command"),
    pytest.param("a-b = 1\n[serve]\n", r"Unknown setting a-b", id="above-a-table"),
    pytest.param("rate-limit = 1\nrate_limit = 2", r"rate_limit is set twice in ", id="twice"),
    pytest.param("[[serve]]\n", r"Unknown setting serve in ", id="array-of-tables"),
    pytest.param("[" * 5000, r"is not TOML|nested too deeply", id="deep"),
    pytest.param("a = " + "[" * 5000, r"is not TOML|nested too deeply", id="deep-list"),
    pytest.param("#" * 300_000, r"more than 256 KiB", id="huge"),
    pytest.param("rate-limit = " + "9" * 5000, r"a number that is far too long", id="long-number"),
    *(
        pytest.param(
            f'{key} = "planted"', rf"{key} in .*: secrets do not belong there\. Name a file with", id=key
        )
        for key in ("token", "server-token", "server_token", "key", "api_key")
    ),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_a_file_that_is_wrong_is_refused_with_its_place(text: str | bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(WrongSetting, match=said) as caught:
        file_of(text, tmp_path)
    assert "planted" not in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


WRONG = [
    pytest.param(ListenOptions, "listen = 5", "listen", id="number-for-text"),
    pytest.param(ListenOptions, 'listen = ["127.0.0.1:1"]', "listen", id="list-for-text"),
    pytest.param(ListenOptions, 'rate-limit = "many"', "rate-limit", id="text-for-number"),
    pytest.param(ListenOptions, "rate-limit = nan", "rate-limit", id="nan"),
    pytest.param(ListenOptions, 'without-token = "perhaps"', "without-token", id="text-for-switch"),
    pytest.param(NodeOptions, "node = [1, 2]", "node", id="numbers-for-addresses"),
    pytest.param(NodeOptions, 'node = ["http://planted:x@h"]', "node", id="password-in-an-address"),
    pytest.param(LogOptions, "log-level = true", "log-level", id="switch-for-a-choice"),
    pytest.param(LogOptions, "log-level = 2026-01-01", "log-level", id="date-for-a-choice"),
]


@pytest.mark.parametrize(("group", "text", "key"), WRONG)
def test_a_wrong_value_names_its_key_and_the_file(
    group: type[settings.Options], text: str, key: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongSetting, match=rf"^{key} in .*settings\.toml must ") as caught:
        read(group, {}, {}, file_of(text, tmp_path))
    assert "planted" not in str(caught.value)


def test_a_token_in_a_pipe_is_waited_for_no_longer_than_a_moment(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    options = ListenOptions(token_file=str(pipe))
    with pytest.raises(WrongSetting, match="must be one word"):
        settings.token(options, {})
    both_ends = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        with pytest.raises(WrongSetting, match="must be one word"):
            settings.token(options, {})
        os.write(both_ends, b"a-token-of-sixteen\n")
        assert settings.token(options, {}) == "a-token-of-sixteen"
    finally:
        os.close(both_ends)


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongSetting, match="--token-file must be valid UTF-8"):
        read(ListenOptions, {"token_file": os.fsdecode(b"t\xff")}, {})


def test_what_is_not_a_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, why in (
        (pipe, "it is not a file"),
        (tmp_path, "it is not a file"),
        (tmp_path / "no", "No such file"),
    ):
        with pytest.raises(WrongSetting, match=f"--config cannot read .*: {why}"):
            read_settings_file({"config": str(path)}, {}, "serve", COMMANDS)


def test_every_option_can_stand_in_a_file(tmp_path: Path) -> None:
    options = [option for group in GROUPS for option in settings.options_of(group)]
    for option in options:
        if option.field != "config":
            file = file_of(f"{option.flag[2:]} = 1\n", tmp_path)
            assert option.field in file.values


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_commands_read_the_file(by: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('node = "http://127.0.0.1:1"\n[call]\nsample = true\n')
    words = ("--config", str(path)) if by == "flag" else ()
    ended = run(
        "call",
        "get_fee",
        "type=PAYMENT",
        *words,
        env={"QORTAL_MCP_CONFIG": str(path)} if by == "variable" else {},
    )
    assert ended.code == 0, ended.err
    assert "0.01" in ended.out


@pytest.mark.parametrize("words", [("--config", "FILE"), ("--config=FILE",), ()])
def test_stdio_reads_the_file(words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('toolsets = "nonsense"\nsample = true\n')
    env = {} if words else {"QORTAL_MCP_CONFIG": str(path)}
    ended = run("stdio", *(word.replace("FILE", str(path)) for word in words), env=env)
    assert ended.code == 2
    assert "toolsets" in ended.err
    assert "nonsense" in ended.err
