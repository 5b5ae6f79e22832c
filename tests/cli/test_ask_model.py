"""Which model `ask` asks: the one that is named, or one on this machine; and whom the key is sent to."""

import asyncio
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.agent.scripted_endpoint import Raw, Request, Said, ScriptedEndpoint, says
from tests.cli.running import Ended, run

from qortal_mcp import model_from_settings
from qortal_mcp.agent.limits import DEFAULT
from qortal_mcp.agent.model.local import Place
from qortal_mcp.model_from_settings import NoModel, choose
from qortal_mcp.qortal.tools import definitions, select
from qortal_mcp.settings.asking import ModelOptions

# Tools of the toolsets that are on by default.
ALL = len(definitions(select()))

MODELS = {"/v1/models": {"data": [{"id": "text-embed"}, {"id": "first"}, {"id": "second"}]}}
OLLAMA = {
    "/api/tags": {"models": [{"name": "qwen3:4b"}]},
    "/api/ps": {"models": [{"name": "qwen3:4b", "context_length": 4096}]},
    "/api/show": {"capabilities": ["completion", "tools"]},
}
TLS = Path(__file__).parents[1] / "qortal" / "tls"
# Nothing listens on this port, and nobody may.
NOWHERE = "127.0.0.1:1"


def _hello(request: Request) -> Said:
    return says("Hello.")


def ask(*words: str, env: Mapping[str, str] | None = None) -> Ended:
    return run("ask", "hi", "--sample", *words, env={"NO_PROXY": "*", "OLLAMA_HOST": NOWHERE, **(env or {})})


def asked(endpoint: ScriptedEndpoint) -> tuple[str, str | None]:
    """The model and the key of the last question."""
    request = endpoint.chats[-1]
    return request.body["model"], request.headers.get("authorization")


def test_options_win_over_variables() -> None:
    with ScriptedEndpoint(_hello) as named, ScriptedEndpoint(_hello) as other:
        variables = {
            "OPENAI_BASE_URL": other.base_url,
            "OPENAI_MODEL": "of-the-variable",
            "OPENAI_API_KEY": "sk-of-the-variable",
        }
        assert ask("--base-url", named.base_url, "--model", "of-the-option", env=variables).code == 0
        assert asked(named) == ("of-the-option", "Bearer sk-of-the-variable")
        assert other.requests == []
        assert ask(env=variables).code == 0
        assert asked(other) == ("of-the-variable", "Bearer sk-of-the-variable")


def test_a_key_file_wins_and_the_first_model_that_can_talk_is_asked(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-of-the-file\n")
    with ScriptedEndpoint(_hello, pages=MODELS) as endpoint:
        # Without /v1, as people write it.
        origin = endpoint.base_url.removesuffix("/v1")
        done = ask("--base-url", origin, "--key-file", str(key), env={"OPENAI_API_KEY": "sk-of-the-variable"})
        assert (done.code, done.out) == (0, "Hello.\n")
        assert asked(endpoint) == ("first", "Bearer sk-of-the-file")
        assert {request.headers["authorization"] for request in endpoint.requests} == {
            "Bearer sk-of-the-file"
        }


def test_a_model_that_is_called_like_the_key_is_not_asked() -> None:
    key = "sk-of-the-variable"
    models = {"/v1/models": {"data": [{"id": f"Bearer {key}"}, {"id": "second"}]}}
    with ScriptedEndpoint(_hello, pages=models) as endpoint:
        done = ask("--base-url", endpoint.base_url, "--trace", env={"OPENAI_API_KEY": key})
        assert (done.code, done.out) == (0, "Hello.\n")
        assert asked(endpoint) == ("second", f"Bearer {key}")
    assert key not in done.err


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "The key in --key-file must be one word", id="empty"),
        pytest.param(b"two words\n", "The key in --key-file must be one word", id="two-words"),
        pytest.param(b"\xff\xfe", "--key-file cannot be read: not text.", id="not-text"),
        pytest.param(None, "--key-file cannot be read: No such file or directory.", id="missing"),
    ],
)
def test_a_key_file_that_cannot_be_used_is_wrong_usage(tmp_path: Path, data: bytes | None, said: str) -> None:
    key = tmp_path / "key"
    if data is not None:
        key.write_bytes(data)
    done = ask("--base-url", f"http://{NOWHERE}/v1", "--key-file", str(key))
    assert done.code == 2
    assert said in done.err
    assert "words" not in done.err.replace(said, "")


@pytest.mark.parametrize("how", ["option", "variable"])
@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"http://user:hunter2pw@{NOWHERE}/v1", "user name or password"),
        (NOWHERE, "address"),
        ("ftp://127.0.0.1/v1", "address"),
    ],
    ids=["password", "no-scheme", "other-scheme"],
)
def test_an_address_that_cannot_be_used_is_wrong_usage(how: str, url: str, said: str) -> None:
    done = ask("--base-url", url) if how == "option" else ask(env={"OPENAI_BASE_URL": url})
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "hunter2pw" not in done.err


def test_a_password_in_an_address_that_cannot_be_read_is_not_shown() -> None:
    done = ask(env={"OPENAI_BASE_URL": "http://user:hunter2pw@[x/"})
    assert done.code == 2
    assert "The base URL '[x/' is not an address." in done.err


@pytest.mark.parametrize("words", [(), ("--model", "m")], ids=["no-model-named", "model-named"])
def test_an_endpoint_that_is_down_is_reported(words: tuple[str, ...]) -> None:
    done = ask("--base-url", f"http://{NOWHERE}/v1", *words)
    assert (done.code, done.out) == (3, "")
    assert f"http://{NOWHERE}/v1 cannot be reached: connection refused. Start the model's server" in done.err


@pytest.mark.parametrize(
    ("page", "said"),
    [
        pytest.param(None, "does not say which models it has. Name one with --model", id="no-list"),
        pytest.param({"data": []}, "lists no model that can answer. Name one with --model", id="empty-list"),
        pytest.param({"data": [{"id": "e-embed"}]}, "lists no model that can answer.", id="no-chat-model"),
        pytest.param(Raw(status=401, body=b"{}"), "wants a key (401)", id="wants-a-key"),
    ],
)
def test_an_endpoint_that_names_no_model_is_reported(page: Any, said: str) -> None:
    with ScriptedEndpoint(_hello, pages={} if page is None else {"/v1/models": page}) as endpoint:
        done = ask("--base-url", endpoint.base_url)
        assert (done.code, done.out) == (3, "")
        assert said in done.err
        assert endpoint.chats == []


@pytest.mark.parametrize("words", [(), ("--model", "m")], ids=["no-model-named", "model-named"])
def test_the_endpoint_is_trusted_with_the_certificates_that_are_named(words: tuple[str, ...]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "localhost.crt", TLS / "localhost.key")
    with ScriptedEndpoint(_hello, pages=MODELS, tls=context) as endpoint:
        trusted = ask("--base-url", endpoint.base_url, *words, "--ca-file", str(TLS / "localhost.crt"))
        assert (trusted.code, trusted.out) == (0, "Hello.\n")
        unknown = ask("--base-url", endpoint.base_url, *words)
        assert (unknown.code, unknown.out) == (3, "")
        assert "TLS failed: the certificate is not accepted" in unknown.err
        assert "--ca-file FILE" in unknown.err
        missing = ask("--base-url", endpoint.base_url, *words, "--ca-file", "none.pem")
        assert (missing.code, missing.out) == (2, "")
        assert "none.pem cannot be read: No such file" in missing.err


def test_a_local_ollama_is_found_and_gets_no_key() -> None:
    with ScriptedEndpoint(_hello, pages=OLLAMA) as endpoint:
        env = {"OLLAMA_HOST": f"127.0.0.1:{endpoint.port}", "OPENAI_API_KEY": "sk-for-somebody-else"}
        done = ask(env=env)
        assert (done.code, done.out) == (0, "Hello.\n")
        assert asked(endpoint) == ("qwen3:4b", None)
        assert all("authorization" not in request.headers for request in endpoint.requests)
        offered = len(endpoint.chats[0].body["tools"])
    assert 0 < offered < ALL
    assert f"It was offered {offered} of {ALL} tools" in done.err
    assert "window of 4,096 tokens" in done.err
    assert "OLLAMA_CONTEXT_LENGTH=32768" in done.err


def test_a_model_that_is_named_is_asked_of_the_local_server() -> None:
    with ScriptedEndpoint(_hello, pages=OLLAMA) as endpoint:
        env = {"OLLAMA_HOST": f"127.0.0.1:{endpoint.port}", "OPENAI_MODEL": "other:latest"}
        assert ask(env=env).code == 0
        assert asked(endpoint) == ("other:latest", None)


async def test_without_any_model_the_next_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # The usual ports may be in use where the tests run.
    monkeypatch.setattr(
        model_from_settings, "usual_places", lambda host: (Place("Ollama", f"http://{NOWHERE}"),)
    )
    async with asyncio.timeout(30):
        with pytest.raises(
            NoModel, match=r"There is no language model to ask: .* --base-url URL --model"
        ) as without_key:
            await choose(ModelOptions(), DEFAULT, {})
        with pytest.raises(NoModel, match=r"A key alone is not enough: .* OPENAI_BASE_URL=https://"):
            await choose(ModelOptions(), DEFAULT, {"OPENAI_API_KEY": "sk-for-somebody-else"})
    assert "A key" not in str(without_key.value)
