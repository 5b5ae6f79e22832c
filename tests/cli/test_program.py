"""The command line as a whole: help, versions, mistakes, pipes and interrupts."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from tests.cli.running import COMMAND, environment, run
from tests.cli.terminals import terminal

from qortal_mcp import __version__, settings
from qortal_mcp.cli.input.options import SettingsCommand
from qortal_mcp.cli.main import main
from qortal_mcp.cli.program import COMMANDS, module_of
from qortal_mcp.cli.running.failures import EXIT_CODES
from qortal_mcp.protocol.versions import REVISIONS


@pytest.mark.promise(
    "Command line",
    "Name and version are the same in the package, the handshake, the manifest and `--version`.",
)
def test_the_version_is_the_packages() -> None:
    assert run("--version").out == f"qortal-mcp {__version__}\n"
    assert run("version").out.startswith(f"qortal-mcp {__version__}\n")


@pytest.mark.promise("Command line", "`version --json` names every revision that is spoken.")
def test_version_as_json_names_every_revision_spoken() -> None:
    assert run("version", "--json").json == {
        "name": "qortal-mcp",
        "version": __version__,
        "protocolVersions": list(REVISIONS),
    }


def test_help_lists_every_command_in_its_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, entry in COMMANDS.items():
        assert f"  {name} " in shown
        assert f"{entry.section}:\n" in shown
        assert entry.summary in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_with_its_summary(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert COMMANDS[name].summary in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_shows_each_variable_and_default(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QORTAL_MCP_TOKEN", "planted")
    assert main([name, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    command = import_module(module_of(name)).command
    groups = command.groups if isinstance(command, SettingsCommand) else ()
    for option in (option for group in groups for option in settings.options_of(group)):
        assert option.variable in shown
        assert f"default: {option.default_text}" in shown or not option.default_text
    assert "planted" not in shown


def test_no_command_at_all_is_answered_with_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage:" in capsys.readouterr().err


WRONG = [
    pytest.param(["serv"], "Unknown command serv. Did you mean serve", id="command"),
    pytest.param(["--frobnicate"], "No such option", id="option"),
    pytest.param(["serve", "--frobnicate"], "No such option", id="option-of-serve"),
    pytest.param(["stdio", "--frobnicate"], "No such option", id="option-of-stdio"),
    pytest.param(["stdio", "server.py", "extra"], "unexpected extra argument", id="argument-of-stdio"),
    pytest.param(["stdio", "--node"], "requires an argument", id="option-without-value"),
    pytest.param(["stdio", "--log-level", "loud"], "loud", id="choice"),
    pytest.param(["stdio", "--node", "x:1"], "--node must be", id="value"),
    pytest.param(["stdio", "--node", "http://a:b@x"], "--node must not contain a user name", id="password"),
    pytest.param(["stdio", "--node", "http://x/path"], "--node: a node's address", id="node-with-path"),
    pytest.param(["tools", "--toolsets", "nope"], "--toolsets: there is no toolset", id="toolset"),
    pytest.param(["stdio", "--toolsets", "nope"], "--toolsets: there is no toolset", id="toolset-of-stdio"),
    pytest.param(["tools", "--json", "--tokens"], "cannot be combined", id="two-forms"),
    pytest.param(["tools", "--sample", "--node", "http://x"], "cannot be combined", id="two-chains"),
]


@pytest.mark.promise("Command line", "Wrong usage is one line on standard error and exit code 2.")
@pytest.mark.parametrize(("words", "reason"), WRONG)
def test_wrong_usage_is_one_line_on_standard_error_and_exit_code_2(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert reason in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.err.startswith("qortal-mcp: ")


@pytest.mark.promise("Command line", "A misspelt variable stops every command and is named.")
@pytest.mark.parametrize("name", ["serve", "stdio", "tools", "sample-node"])
def test_a_misspelt_variable_stops_every_command_with_its_name(name: str) -> None:
    ended = run(name, env={"QORTAL_MCP_NOODE": "planted"})
    assert ended.code == 2
    assert "Unknown variable QORTAL_MCP_NOODE. Did you mean QORTAL_MCP_NODE?" in ended.err
    assert "planted" not in ended.err


@pytest.mark.promise("Read-only and secrets", "No API key is read, held or sent to a node.")
@pytest.mark.promise(
    "Old clients", "A variable of the server that came before gets one warning that says what to use instead."
)
def test_variables_of_the_earlier_server_get_one_warning_and_are_not_used() -> None:
    old = {"QORTAL_BASE_URL": "http://planted", "QORTAL_API_KEY": "planted", "QORTAL_API_KEY_FILE": "planted"}
    ended = run("call", "get_node_status", "--sample", env=old)
    assert ended.code == 0
    (line,) = ended.err.splitlines()
    assert " warning " in line
    assert "QORTAL_MCP_NODE" in line
    assert all(name in line for name in old)
    assert "planted" not in ended.out + ended.err


@pytest.mark.parametrize("form", ["json", "text"])
def test_what_is_said_about_an_old_variable_does_not_look_like_its_value(form: str) -> None:
    words = ("call", "get_node_status", "--sample", "--log-format", form)
    ended = run(*words, env={"QORTAL_BASE_URL": "http://planted", "QORTAL_HTTP_TIMEOUT": "5"})
    sentence = (
        "ignored variables of another server: QORTAL_BASE_URL (use --node or QORTAL_MCP_NODE); "
        "QORTAL_HTTP_TIMEOUT (not needed: the time for an answer is fixed)"
    )
    assert sentence in ended.err
    if form == "text":
        assert ended.err.rstrip().endswith(sentence)
    else:
        assert json.loads(ended.err)["event"] == sentence


def test_a_reader_that_has_seen_enough_causes_no_traceback() -> None:
    for words in (["tools"], ["--help"], ["tools", "--json"]):
        process = subprocess.Popen(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(30) == 0


UNWRITABLE = [
    pytest.param(">/dev/full", "No space left on device", id="full"),
    pytest.param(">&-", "Bad file descriptor", id="closed"),
]


@pytest.mark.promise(
    "Command line",
    "What could not be determined, such as an answer of a node that is not there, is exit code 3.",
)
@pytest.mark.parametrize("unbuffered", [True, False])
@pytest.mark.parametrize(("target", "why"), UNWRITABLE)
@pytest.mark.parametrize(
    "words", ["tools", "tools --json", "version", "version --json", "--help", "call get_node_status --sample"]
)
def test_output_that_cannot_be_written_is_one_line_and_exit_code_3(
    words: str, target: str, why: str, unbuffered: bool
) -> None:
    env = {name: value for name, value in environment().items() if name != "PYTHONUNBUFFERED"}
    if unbuffered:
        env["PYTHONUNBUFFERED"] = "1"
    script = f"{' '.join(COMMAND)} {words} {target}"
    done = subprocess.run(["sh", "-c", script], env=env, timeout=30, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (3, f"qortal-mcp: Cannot write the output: {why}.\n")


def test_stdio_without_a_standard_output_is_one_line_and_exit_code_3() -> None:
    script = f"{' '.join(COMMAND)} stdio >&- </dev/null"
    done = subprocess.run(["sh", "-c", script], env=environment(), timeout=30, capture_output=True)
    assert done.returncode == 3
    assert done.stderr.startswith(b"qortal-mcp: Standard output is closed")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("target", ["2>&-", "2>/dev/full"])
def test_a_standard_error_that_takes_nothing_changes_no_exit_code(target: str) -> None:
    for words, code in (("tools", 0), ("nothing", 2), ("", 2)):
        script = f"{' '.join(COMMAND)} {words} {target}"
        done = subprocess.run(["sh", "-c", script], env=environment(), timeout=30, stdout=subprocess.DEVNULL)
        assert done.returncode == code


def test_the_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for code, meaning in EXIT_CODES.items():
        assert f" {code} {meaning}" in shown


FOLDED = [
    pytest.param(["--help"], "  1  the thing asked about is bad: ", id="exit-codes"),
    pytest.param(["call", "nothing", "--args", "x" * 30, "--csv", "--json"], "qortal-mcp: ", id="error"),
    pytest.param(["prompt", "my_week", "address=@Bob", "--sample"], "user", id="prompt"),
    pytest.param(["tools"], "node", id="arguments"),
    pytest.param(["call", "get_cash_flow", "address=@Bob", "--csv", "--sample"], "Note: ", id="notes-of-csv"),
    pytest.param(["watch", "address", "@Bob", "--sample"], "  names", id="watch"),
]


@pytest.mark.promise(
    "Command line",
    "Every text is folded between words to the width of the terminal; a pipe gets whole lines.",
)
@pytest.mark.parametrize(("words", "begin"), FOLDED)
def test_no_line_is_wider_than_the_terminal(words: list[str], begin: str) -> None:
    with terminal(*words, env={"NO_COLOR": "1", "COLUMNS": "60"}) as at_terminal:
        at_terminal.ended()
        screen = at_terminal.screen
    at = next(at for at, line in enumerate(screen) if line.startswith(begin))
    assert [line for line in screen[at:] if len(line) > 60] == []


def test_a_pipe_gets_an_error_and_a_prompt_in_whole_lines() -> None:
    (line,) = run(
        "call", "nothing", "--csv", "--json", "--list", "x" * 90, env={"COLUMNS": "40"}
    ).err.splitlines()
    assert len(line) > 40
    shown = run("prompt", "my_week", "address=@Bob", "--sample", env={"COLUMNS": "40"}).out
    assert max(map(len, shown.splitlines())) > 100


def test_a_closed_standard_error_is_no_reason_for_another_exit_code() -> None:
    script = f"{' '.join(COMMAND)} nothing 2>&-"
    assert subprocess.run(["sh", "-c", script], env=environment(), timeout=30).returncode == 2


@pytest.mark.promise("Command line", "An interrupt ends a command without a traceback.")
def test_an_interrupt_ends_a_command_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("qortal_mcp.cli.tools.ask", interrupted)
    assert main(["tools"]) == 130
    assert capsys.readouterr().err == ""


def test_a_shell_can_complete_commands_and_options() -> None:
    def completed(words: str, at: int) -> str:
        asked = {"_QORTAL_MCP_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        return run(env=asked).out

    assert completed("qortal-mcp s", 1).split() == ["plain,serve", "plain,stdio", "plain,sample-node"]
    assert "plain,--node" in completed("qortal-mcp call --n", 2)
    assert completed("qortal-mcp call --log-format j", 3).split() == ["plain,json"]


def test_a_command_is_imported_only_when_it_runs() -> None:
    code = (
        "import sys; from qortal_mcp.cli.main import main; main(['--help'])\n"
        "sys.exit(' '.join(m for m in sys.modules if m.startswith(('aiohttp', 'uvicorn', 'rich', 'asyncio',"
        "'qortal_mcp.server', 'qortal_mcp.qortal', 'qortal_mcp.cli.serve', 'qortal_mcp.cli.call'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30, env=environment())
    assert done.stderr == b"\n"


def test_every_command_is_a_click_command() -> None:
    for name in COMMANDS:
        assert isinstance(import_module(module_of(name)).command, click.Command)


SUGGESTED = [
    pytest.param("call get_b", ["get_balance", "get_block"], id="tools"),
    pytest.param("tools get_na", ["get_name"], id="tools-of-tools"),
    pytest.param("call get_block he", ["height="], id="argument"),
    pytest.param("call get_name name=x ", [], id="no-argument-twice"),
    pytest.param("call get_block position=", ["position=first", "position=last"], id="choices"),
    pytest.param("call get_block position = l", ["last"], id="choices-as-bash-cuts-them"),
    pytest.param("call get_block minting=t", ["minting=true"], id="truth"),
    pytest.param("call nothing ", [], id="no-such-tool"),
    pytest.param("tools --toolsets +chat,-ra", ["+chat,-raw"], id="toolsets"),
    pytest.param("install cl", ["claude-code", "claude-desktop"], id="clients"),
    pytest.param("audit --explain origin-n", ["origin-not-checked"], id="codes"),
    pytest.param("audit --explain al", ["all"], id="all-codes"),
    pytest.param("audit --clients origin-n", ["origin-not-checked"], id="codes-of-clients"),
]


@pytest.mark.parametrize(("typed", "suggested"), SUGGESTED)
def test_a_shell_is_told_tools_arguments_and_toolsets(typed: str, suggested: list[str]) -> None:
    words = typed.split(" ")
    env = {
        "_QORTAL_MCP_COMPLETE": "bash_complete",
        "COMP_WORDS": f"qortal-mcp {typed}",
        "COMP_CWORD": str(len(words)),
    }
    assert run(env=env).out.split() == [f"plain,{word}" for word in suggested]


@pytest.mark.parametrize(
    ("typed", "suggested", "options"),
    [
        (["call", "get_block", "he"], "height=", "-o nospace"),
        (["call", "get_bal"], "get_balance", ""),
    ],
)
def test_bash_adds_no_space_after_an_argument_that_takes_a_value(
    tmp_path: Path, typed: list[str], suggested: str, options: str
) -> None:
    script = run(env={"_QORTAL_MCP_COMPLETE": "bash_source"}).out
    command = tmp_path / "qortal-mcp"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m qortal_mcp "$@"\n')
    command.chmod(0o755)
    # `compopt` works only while somebody presses the key; here it says what it was asked for.
    pressed = f"""
        complete() {{ :; }}
        compopt() {{ options="$1 $2"; }}
        {script}
        COMP_WORDS=(qortal-mcp {" ".join(typed)}) COMP_CWORD={len(typed)}
        _qortal_mcp_completion {command}
        echo "${{COMPREPLY[*]}}|$options"
    """
    done = subprocess.run(
        ["bash", "-c", pressed], capture_output=True, timeout=30, env=environment(), text=True
    )
    assert done.stdout == f"{suggested}|{options}\n", done.stderr


def test_zsh_adds_no_space_after_an_argument_that_takes_a_value() -> None:
    script = run(env={"_QORTAL_MCP_COMPLETE": "zsh_source"}).out
    assert "compadd -U -V unsorted -S '' -a keys" in script


MEANT = [
    pytest.param(
        "get_balance address=@Bob", "Unknown command get_balance. Did you mean call get_balance?", id="tool"
    ),
    pytest.param("account_balance", "Unknown command account_balance.", id="neither"),
    pytest.param(
        "call get_minting", "Unknown tool get_minting. Did you mean get_minting_profile?", id="part-of-a-tool"
    ),
    pytest.param(
        "tools poll", "Unknown tool poll. Did you mean list_polls or get_poll?", id="part-of-two-tools"
    ),
    pytest.param("tools ge", "Unknown tool ge. See qortal-mcp tools.", id="part-of-too-many"),
    pytest.param(
        "prompt my-week", "Unknown prompt my-week. Did you mean my_week? See qortal-mcp prompt.", id="prompt"
    ),
    pytest.param("call get_balance --address @Bob", "written without dashes: address=@Bob.", id="option"),
    pytest.param(
        "call get_balance --address=@Bob", "written without dashes: address=@Bob.", id="option-and-value"
    ),
    pytest.param("call get_balance --address", "written without dashes: address=VALUE.", id="option-alone"),
    pytest.param(
        "call get_balance --asset-id 3", "written without dashes: asset_id=3.", id="option-with-a-dash"
    ),
    pytest.param("call get_balance --nothing", "No such option '--nothing'.", id="no-argument"),
    pytest.param("call get_minting_profile @alice-test", "Write address=@alice-test.", id="value-alone"),
    pytest.param("call get_poll name=Best fruit?", "in quotes: 'name=Best fruit?'.", id="value-in-two-words"),
    pytest.param(
        "prompt name_report name=Best fruit?", "in quotes: 'name=Best fruit?'.", id="prompt-in-two-words"
    ),
    pytest.param("call search_names alice", 'Arguments must be KEY=VALUE, not "alice". See', id="no-hint"),
]


@pytest.mark.promise(
    "Command line", "A mistake at the command line is answered with what was probably meant."
)
@pytest.mark.parametrize(("line", "said"), MEANT)
def test_a_mistake_is_answered_with_what_was_meant(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert (shown.out, shown.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("words", [[], ["--address"]], ids=["alone", "option"])
def test_a_key_that_was_typed_is_not_repeated(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    key = "ab" * 32
    assert main(["call", "get_balance", *words, key, "--sample"]) == 2
    assert key not in capsys.readouterr().err
