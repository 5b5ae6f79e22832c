"""The steps that a person follows."""

import msgspec
import pytest
from tests.connect.targets import COMMAND, PLAIN, URL, WITH_TOKEN, named

from qortal_mcp.connect import clients
from qortal_mcp.connect.client import Client, Target
from qortal_mcp.connect.clients import CLIENTS
from qortal_mcp.connect.guide import Way, guide, guides, trial
from qortal_mcp.settings import TOKEN_VARIABLE


def ways(client: Client, target: Target) -> dict[str, Way]:
    return {way.kind: way for way in guide(client, target).ways}


def texts(way: Way) -> str:
    return "\n".join(step.text for step in way.steps)


@pytest.mark.parametrize("client", CLIENTS, ids=named)
def test_every_way_ends_in_something_to_copy_and_says_where_it_goes(client: Client) -> None:
    for way in guide(client, PLAIN).ways:
        (filed,) = [step for step in way.steps if step.files]
        assert filed.code
        assert filed.language == client.form
        assert [file.path for file in filed.files] == [place.path for place in client.places]


def test_the_shortest_way_comes_first_and_the_others_are_offered_as_alternatives() -> None:
    first, second, third, last = ways(clients.VSCODE, PLAIN)["stdio"].steps
    assert first.link
    assert second.text.startswith("Or run this in a terminal.")
    assert second.code == "/opt/qortal/bin/qortal-mcp install vscode --sample"
    assert (third.language, third.text) == ("sh", "Or run a command of VS Code.")
    assert last.text.startswith("Or add this to its settings file.")
    assert ways(clients.ZED, PLAIN)["stdio"].steps[0].text.startswith("Run this in a terminal.")


def test_the_command_that_installs_it_names_the_address_and_whether_a_token_is_wanted() -> None:
    plain, wanted = (ways(clients.CODEX, target)["http"].steps for target in (PLAIN, WITH_TOKEN))
    assert plain[0].code == f"/opt/qortal/bin/qortal-mcp install codex --http {URL} --no-token"
    assert wanted[1].code == f"/opt/qortal/bin/qortal-mcp install codex --http {URL} --token"
    assert not [step for step in ways(clients.ZED, WITH_TOKEN)["http"].steps if "install" in step.code]


def test_a_client_that_only_starts_programs_has_no_way_over_http_and_must_be_restarted() -> None:
    found = ways(clients.CLAUDE_DESKTOP, PLAIN)
    assert list(found) == ["stdio"]
    assert "start it again" in texts(found["stdio"])


@pytest.mark.promise("Console", "No token is written into what the console offers to copy.")
@pytest.mark.parametrize("client", CLIENTS, ids=named)
def test_a_server_that_wants_a_token_says_so_in_the_steps_over_http_alone(client: Client) -> None:
    with_token, without = ways(client, WITH_TOKEN), ways(client, PLAIN)
    assert with_token["stdio"] == without["stdio"]
    if "http" in with_token:
        assert "This server wants a token" in with_token["http"].steps[0].text
        assert "token" not in texts(without["http"]).lower()


def test_a_client_that_reads_variables_is_told_which_one_to_set() -> None:
    step = ways(clients.CODEX, WITH_TOKEN)["http"].steps[0]
    assert TOKEN_VARIABLE in step.text
    assert step.code == f'export {TOKEN_VARIABLE}="$(cat TOKEN-FILE)"'


def test_a_client_that_cannot_read_variables_is_told_that_its_file_will_hold_a_secret() -> None:
    step = ways(clients.ZED, WITH_TOKEN)["http"].steps[0]
    assert "in place of TOKEN" in step.text
    assert "secret" in step.text


def test_what_else_is_new_in_a_file_is_said() -> None:
    assert "“inputs”" in texts(ways(clients.VSCODE, WITH_TOKEN)["http"])
    assert "“inputs”" not in texts(ways(clients.VSCODE, PLAIN)["http"])


def test_whoever_reads_this_on_another_machine_hears_that_the_paths_are_not_theirs() -> None:
    elsewhere = Target(COMMAND, "https://mcp.example/mcp", is_here=False)
    assert "another machine" in texts(ways(clients.CODEX, elsewhere)["stdio"])
    assert "another machine" not in texts(ways(clients.CODEX, elsewhere)["http"])


def test_the_curl_command_sends_the_token_that_the_shell_knows() -> None:
    assert TOKEN_VARIABLE not in trial(PLAIN).code
    assert trial(WITH_TOKEN).code == trial(PLAIN).code + f' -H "Authorization: Bearer ${TOKEN_VARIABLE}"'


def test_each_guide_says_how_sure_it_is() -> None:
    said = {one.name: one.certainty for one in guides(PLAIN)}
    assert said["codex"].startswith("Checked on 2026-")
    assert said["cursor"].endswith("Not run.")


def test_what_is_empty_is_left_out_of_the_json() -> None:
    found = msgspec.to_builtins(guide(clients.CLAUDE_DESKTOP, PLAIN))
    assert list(found["ways"][0]["steps"][-1]) == ["text"]
    assert found["ways"][0]["steps"][1]["files"][0]["usedFor"] == "for you, on macOS"
    assert URL not in str(found)
