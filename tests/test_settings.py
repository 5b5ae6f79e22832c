"""Settings: one spelling per option, a flag beats a variable beats the default, and mistakes have names."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from qortal_mcp import settings
from qortal_mcp.from_settings import check_nodes, node_of
from qortal_mcp.settings import ListenOptions, LogOptions, NodeOptions, SampleNodeOptions, WrongSetting
from qortal_mcp.settings.bridging import BridgeListenOptions
from qortal_mcp.settings.console import ConsoleOptions, audit_targets_of
from qortal_mcp.settings.groups import GROUPS

ALL_OPTIONS = [option for group in GROUPS for option in settings.options_of(group)]


def test_a_group_without_flags_and_variables_holds_the_defaults() -> None:
    assert settings.read(NodeOptions, {}, {}) == NodeOptions()
    assert NodeOptions().node == ("http://127.0.0.1:12391",)
    assert NodeOptions().sample is False
    assert ListenOptions().listen == "127.0.0.1:8000"
    assert LogOptions() == LogOptions(log_level="info", log_format="auto")


@pytest.mark.promise(
    "Command line",
    "Every option is also a variable; a flag beats a variable, and a variable beats the default.",
)
def test_a_variable_beats_the_default() -> None:
    environ = {"QORTAL_MCP_LISTEN": "127.0.0.1:9000", "QORTAL_MCP_RATE_LIMIT": "2.5"}
    options = settings.read(ListenOptions, {}, environ)
    assert (options.listen, options.rate_limit) == ("127.0.0.1:9000", 2.5)


@pytest.mark.promise(
    "Command line",
    "Every option is also a variable; a flag beats a variable, and a variable beats the default.",
)
def test_a_flag_beats_a_variable() -> None:
    environ = {"QORTAL_MCP_LOG_LEVEL": "debug"}
    assert settings.read(LogOptions, {"log_level": "error"}, environ).log_level == "error"


def test_a_variable_lists_by_comma() -> None:
    options = settings.read(NodeOptions, {}, {"QORTAL_MCP_NODE": " http://a:1 ,https://b, "})
    assert options.node == ("http://a:1", "https://b")


def test_an_empty_variable_is_as_good_as_none() -> None:
    assert settings.read(NodeOptions, {}, {"QORTAL_MCP_NODE": " "}) == NodeOptions()


def test_the_changes_to_the_default_toolsets_stay_one_text() -> None:
    assert settings.read(NodeOptions, {}, {"QORTAL_MCP_TOOLSETS": "+chat,-raw"}).toolsets == "+chat,-raw"


@pytest.mark.parametrize("text", ["1", "true", "True"])
def test_a_switch_is_set_by_a_word(text: str) -> None:
    assert settings.read(NodeOptions, {}, {"QORTAL_MCP_SAMPLE": text}).sample is True


@pytest.mark.parametrize("text", ["INFO", "Info", "info"])
def test_choices_are_read_in_any_case(text: str) -> None:
    assert settings.read(LogOptions, {}, {"QORTAL_MCP_LOG_LEVEL": text}).log_level == "info"


WRONG = [
    pytest.param(ListenOptions, "LISTEN", "8000", id="listen-without-host"),
    pytest.param(ListenOptions, "LISTEN", "::1:8000", id="ipv6-without-brackets"),
    pytest.param(ListenOptions, "LISTEN", "localhost:http", id="port-by-name"),
    pytest.param(ListenOptions, "RATE_LIMIT", "many", id="rate-not-a-number"),
    pytest.param(ListenOptions, "RATE_LIMIT", "-1", id="rate-below-zero"),
    pytest.param(ListenOptions, "RATE_LIMIT", "nan", id="rate-nan"),
    pytest.param(ListenOptions, "RATE_LIMIT", "inf", id="rate-without-end"),
    pytest.param(ListenOptions, "WITHOUT_TOKEN", "perhaps", id="switch-not-yes-or-no"),
    pytest.param(LogOptions, "LOG_LEVEL", "chatty", id="no-such-level"),
    pytest.param(LogOptions, "LOG_FORMAT", "plain", id="no-such-format"),
    pytest.param(NodeOptions, "NODE", "ftp://planted", id="node-of-another-scheme"),
    pytest.param(NodeOptions, "NODE", "planted:12391", id="node-without-scheme"),
    pytest.param(NodeOptions, "NODE", "http://planted:planted@host:12391", id="node-with-password"),
    pytest.param(NodeOptions, "NODE", "http://planted@host", id="node-with-user"),
    pytest.param(ListenOptions, "ALLOW_ORIGIN", "app.example", id="origin-without-scheme"),
    pytest.param(ListenOptions, "ALLOW_ORIGIN", "https://app.example/page", id="origin-with-path"),
    pytest.param(ListenOptions, "ALLOW_ORIGIN", "https://", id="origin-without-host"),
    pytest.param(ListenOptions, "ALLOW_ORIGIN", "https://a b", id="origin-with-blank"),
    pytest.param(ListenOptions, "ALLOW_ORIGIN", "*", id="any-origin"),
    pytest.param(ListenOptions, "ALLOW_HOST", "https://app.example", id="host-with-scheme"),
    pytest.param(ListenOptions, "ALLOW_HOST", "app.example/mcp", id="host-with-path"),
    pytest.param(ListenOptions, "ALLOW_HOST", "app example", id="host-with-blank"),
    pytest.param(ListenOptions, "ALLOW_HOST", "app.example:http", id="host-with-named-port"),
    pytest.param(ListenOptions, "ALLOW_HOST", "::1", id="host-of-ipv6-without-brackets"),
    pytest.param(ListenOptions, "ALLOW_HOST", "*", id="any-host"),
]
LISTS = ("NODE", "ALLOW_ORIGIN", "ALLOW_HOST")


@pytest.mark.parametrize(("group", "name", "value"), WRONG)
def test_a_wrong_value_is_an_error_that_names_the_setting_but_not_the_value(
    group: type[settings.Options], name: str, value: str
) -> None:
    with pytest.raises(WrongSetting) as by_variable:
        settings.read(group, {}, {f"QORTAL_MCP_{name}": value})
    assert re.match(rf"QORTAL_MCP_{name} must (be|not contain) ", str(by_variable.value))
    assert "planted" not in str(by_variable.value)
    with pytest.raises(WrongSetting, match="^--" + name.lower().replace("_", "-")):
        settings.read(group, {name.lower(): [value] if name in LISTS else value}, {})


@pytest.mark.promise("Command line", "A misspelt variable stops every command and is named.")
def test_a_misspelt_variable_is_an_error_that_names_it_and_the_nearest_one() -> None:
    with pytest.raises(WrongSetting) as caught:
        settings.refuse_unknown_variables({"QORTAL_MCP_NODES": "http://secret", "HOME": "/"})
    assert "QORTAL_MCP_NODES" in str(caught.value)
    assert "Did you mean QORTAL_MCP_NODE?" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["QORTAL_MCP_FOO", "QORTAL_MCP_", "QORTAL_MCP_XYZZY_PLUGH"])
def test_an_unknown_variable_with_nothing_near_it_gets_no_guess(name: str) -> None:
    with pytest.raises(WrongSetting) as caught:
        settings.refuse_unknown_variables({name: "x"})
    assert str(caught.value) == f"Unknown variable {name}. The help of each command names its variables."


ALLOWED = [
    pytest.param("ALLOW_ORIGIN", "https://app.example", id="origin"),
    pytest.param("ALLOW_ORIGIN", "http://LOCALHOST:3000/", id="origin-with-port-and-slash"),
    pytest.param("ALLOW_ORIGIN", "http://[::1]:3000", id="origin-of-ipv6"),
    pytest.param("ALLOW_ORIGIN", "vscode-webview://0abc", id="origin-of-an-editor"),
    pytest.param("ALLOW_HOST", "mcp.example", id="host"),
    pytest.param("ALLOW_HOST", "mcp_1.example:8000", id="host-with-port"),
    pytest.param("ALLOW_HOST", "192.0.2.1:8000", id="host-of-ipv4"),
    pytest.param("ALLOW_HOST", "[2001:db8::1]:8000", id="host-of-ipv6"),
]


@pytest.mark.parametrize(("name", "value"), ALLOWED)
def test_hosts_and_origins_as_clients_send_them_are_taken(name: str, value: str) -> None:
    options = settings.read(ListenOptions, {}, {f"QORTAL_MCP_{name}": value})
    assert getattr(options, name.lower()) == (value,)


@pytest.mark.promise(
    "Command line",
    "Every option is also a variable; a flag beats a variable, and a variable beats the default.",
)
def test_every_variable_of_every_option_is_known() -> None:
    environ = {option.variable: "x" for option in ALL_OPTIONS}
    known = {**environ, "QORTAL_MCP_TOKEN": "x", "QORTAL_BASE_URL": "x"}
    settings.refuse_unknown_variables(known)
    # Had it refused another one, that would come first.
    with pytest.raises(WrongSetting, match="Unknown variable QORTAL_MCP_ZZZ"):
        settings.refuse_unknown_variables({**known, "QORTAL_MCP_ZZZ": "x"})


@pytest.mark.promise(
    "Command line", "The sample chain is never chosen silently, and not together with a node."
)
def test_the_sample_chain_and_a_node_exclude_each_other() -> None:
    with pytest.raises(WrongSetting, match="--node and --sample cannot be combined"):
        settings.read(NodeOptions, {"node": ["http://a"], "sample": True}, {})
    with pytest.raises(WrongSetting, match="QORTAL_MCP_NODE and QORTAL_MCP_SAMPLE cannot be combined"):
        settings.read(NodeOptions, {}, {"QORTAL_MCP_NODE": "http://a", "QORTAL_MCP_SAMPLE": "1"})


EITHER = [
    pytest.param({"sample": True}, {"QORTAL_MCP_NODE": "http://a"}, NodeOptions(sample=True), id="sample"),
    pytest.param(
        {"node": ["http://a"]}, {"QORTAL_MCP_SAMPLE": "1"}, NodeOptions(node=("http://a",)), id="node"
    ),
    pytest.param(
        {"node": ["http://a"]}, {"QORTAL_MCP_SAMPLE": "0"}, NodeOptions(node=("http://a",)), id="not-sample"
    ),
]


@pytest.mark.parametrize(("flags", "environ", "expected"), EITHER)
def test_a_flag_beats_the_variable_that_excludes_it(
    flags: Mapping[str, Any], environ: Mapping[str, str], expected: NodeOptions
) -> None:
    assert settings.read(NodeOptions, flags, environ) == expected


def test_every_option_says_what_it_is_for_and_what_it_takes() -> None:
    for option in ALL_OPTIONS:
        assert option.description.endswith("."), option.field
        assert option.metavar or option.is_switch, option.field
        assert re.fullmatch(r"--[a-z]+(-[a-z]+)*", option.flag)


@pytest.mark.promise(
    "Read-only and secrets", "No flag takes a secret; the server's token comes from a file or a variable."
)
def test_no_option_can_hold_the_token() -> None:
    assert "--token" not in {option.flag for option in ALL_OPTIONS}


OLD = [
    pytest.param("QORTAL_BASE_URL", "QORTAL_MCP_NODE", id="base-url"),
    pytest.param("QORTAL_PUBLIC_NODES", "QORTAL_MCP_NODE", id="public-nodes"),
    pytest.param("QORTAL_ALLOW_PUBLIC_FALLBACK", "QORTAL_MCP_NODE", id="fallback"),
    pytest.param("QORTAL_FALLBACK_COOLDOWN_SECONDS", "not needed", id="cooldown"),
    pytest.param("QORTAL_FALLBACK_HEALTH_CHECK_PATH", "not needed", id="health-path"),
    pytest.param("QORTAL_HTTP_TIMEOUT", "not needed", id="timeout"),
    pytest.param("QORTAL_API_KEY", "no API key is ever", id="key"),
    pytest.param("QORTAL_API_KEY_FILE", "no API key is ever", id="key-file"),
]


@pytest.mark.promise(
    "Old clients", "A variable of the server that came before gets one warning that says what to use instead."
)
@pytest.mark.parametrize(("name", "instead"), OLD)
def test_a_variable_of_the_earlier_server_is_answered_with_what_to_use(name: str, instead: str) -> None:
    found = settings.old_variables({name: "planted", "HOME": "/"})
    assert list(found) == [name]
    assert instead in found[name]
    assert "planted" not in found[name]


ADDRESSES = [
    ("127.0.0.1:8000", ("127.0.0.1", 8000)),
    ("localhost:0", ("localhost", 0)),
    ("[::1]:65535", ("::1", 65535)),
]


@pytest.mark.parametrize(("text", "parts"), ADDRESSES)
def test_an_address_to_listen_on_has_a_host_and_a_port(text: str, parts: tuple[str, int]) -> None:
    assert settings.host_and_port(settings.read(ListenOptions, {"listen": text}, {}).listen) == parts


@pytest.mark.parametrize("port", [65536, 65540, 65600, 66000, 70000, 99999])
@pytest.mark.parametrize("group", [ListenOptions, SampleNodeOptions, BridgeListenOptions])
def test_a_port_beyond_the_last_is_refused_and_named_by_its_source(
    group: type[settings.Options], port: int
) -> None:
    address = f"127.0.0.1:{port}"
    for flags, environ, source in (
        ({"listen": address}, {}, "--listen"),
        ({}, {"QORTAL_MCP_LISTEN": address}, "QORTAL_MCP_LISTEN"),
    ):
        with pytest.raises(WrongSetting, match=f"^{source} needs a port from 0 to 65535.$"):
            settings.read(group, flags, environ)


@pytest.mark.promise(
    "Read-only and secrets", "No flag takes a secret; the server's token comes from a file or a variable."
)
def test_the_token_comes_from_its_file_before_its_variable(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("sixteen-from-file\n")
    environ = {"QORTAL_MCP_TOKEN": "sixteen-from-variable"}
    assert settings.token(ListenOptions(token_file=str(file)), environ) == "sixteen-from-file"
    assert settings.token(ListenOptions(), environ) == "sixteen-from-variable"
    assert settings.token(ListenOptions(), {}) is None


def test_a_token_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WrongSetting, match="--token-file cannot be read: No such file"):
        settings.token(ListenOptions(token_file=str(tmp_path / "none")), {})


@pytest.mark.promise(
    "Read-only and secrets", "A token that is too short or cannot be sent is refused and not shown."
)
@pytest.mark.parametrize("content", [b"", b" \n", b"two words", "schlüssel".encode(), b"\xff\xfe"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_shown(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(WrongSetting) as caught:
        settings.token(ListenOptions(token_file=str(file)), {})
    assert "words" not in str(caught.value)


@pytest.mark.promise(
    "Read-only and secrets", "A token that is too short or cannot be sent is refused and not shown."
)
def test_a_token_that_can_be_guessed_is_refused_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("fifteen-letters\n")
    with pytest.raises(WrongSetting, match="The token in --token-file must have at least 16") as by_file:
        settings.token(ListenOptions(token_file=str(file)), {})
    with pytest.raises(
        WrongSetting, match="The token in QORTAL_MCP_TOKEN must have at least 16"
    ) as by_variable:
        settings.token(ListenOptions(), {"QORTAL_MCP_TOKEN": "fifteen-letters"})
    assert "fifteen" not in f"{by_file.value}{by_variable.value}"
    assert settings.token(ListenOptions(), {"QORTAL_MCP_TOKEN": "sixteen-letters."}) == "sixteen-letters."


@pytest.mark.parametrize(
    ("text", "length"), [("15m", 900), ("90", 90), ("90s", 90), ("2h", 7200), ("1d", 86_400), ("007m", 420)]
)
def test_a_duration_has_a_unit_or_counts_seconds(text: str, length: int) -> None:
    options = settings.read(NodeOptions, {"max_tip_age": text}, {})
    assert settings.seconds(options.max_tip_age) == length


@pytest.mark.parametrize("text", ["0", "0m", "-5m", "15 m", "m", "1w", "1.5h", "15m\n", "9" * 30])
def test_what_is_not_a_duration_is_refused(text: str) -> None:
    with pytest.raises(WrongSetting, match="--max-tip-age must be a number with s, m, h or d, such as 15m"):
        settings.read(NodeOptions, {"max_tip_age": text}, {})


@pytest.mark.parametrize(
    ("given", "on_loopback", "beyond"),
    [({}, "loopback", "off"), ({"QORTAL_MCP_AUDIT_TARGETS": "Any"}, "any", "any")],
    ids=["default", "given"],
)
def test_what_the_console_may_audit_depends_on_who_can_reach_it_unless_it_is_said(
    given: dict[str, str], on_loopback: str, beyond: str
) -> None:
    options = settings.read(ConsoleOptions, {}, given)
    assert audit_targets_of(options, is_loopback=True) == on_loopback
    assert audit_targets_of(options, is_loopback=False) == beyond


def test_what_the_console_may_audit_is_one_of_three_words() -> None:
    with pytest.raises(WrongSetting, match=r"QORTAL_MCP_AUDIT_TARGETS must be one of off, loopback, any\."):
        settings.read(ConsoleOptions, {}, {"QORTAL_MCP_AUDIT_TARGETS": "all"})


def test_how_many_nodes_confirm_is_a_number() -> None:
    assert NodeOptions().confirm == 1
    assert settings.read(NodeOptions, {}, {"QORTAL_MCP_CONFIRM": "3"}).confirm == 3
    for wrong in ("0", "-1", "two", "101", "1.5"):
        with pytest.raises(WrongSetting, match=r"^--confirm must be a number from 1 to 100\.$"):
            settings.read(NodeOptions, {"confirm": wrong}, {})


@pytest.mark.promise("Nodes", "`--confirm N` with fewer than N different nodes is refused at the start.")
@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (NodeOptions(confirm=2), "needs 2 different nodes, and 1 is given: repeat --node."),
        (
            NodeOptions(node=("http://a:1", "http://a:1/", "http://b:1"), confirm=3),
            "needs 3 different nodes, and 2 are given: repeat --node.",
        ),
        (NodeOptions(sample=True, confirm=2), "cannot be combined: the sample chain is a single node."),
    ],
)
def test_too_few_nodes_to_confirm_are_refused(options: NodeOptions, complaint: str) -> None:
    for check in (check_nodes, node_of):
        with pytest.raises(WrongSetting) as refusal:
            check(options)
        assert str(refusal.value).startswith("--confirm ")
        assert str(refusal.value).endswith(complaint)


def test_enough_nodes_to_confirm_are_accepted() -> None:
    check_nodes(NodeOptions(node=("http://a:1", "http://b:1"), confirm=2))
