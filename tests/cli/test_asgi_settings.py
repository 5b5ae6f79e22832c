"""`qortal_mcp.asgi:app`: settings from the environment, and mistakes that an operator can read."""

import sys
from collections.abc import Iterator

import pytest

from qortal_mcp import asgi
from qortal_mcp.settings import WrongSetting
from qortal_mcp.transports.http import HttpApp


@pytest.fixture(autouse=True)
def no_app() -> Iterator[None]:
    yield
    vars(asgi).pop("app", None)


@pytest.mark.promise(
    "Library", "`qortal_mcp.asgi:app` takes its settings from variables, and only when it is asked for."
)
def test_it_is_made_of_the_environment_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QORTAL_MCP_SAMPLE", "1")
    assert isinstance(asgi.app, HttpApp)
    assert asgi.app is asgi.app


WRONG = [
    pytest.param("QORTAL_MCP_NODE", "ftp://x", "QORTAL_MCP_NODE must be an address", id="value"),
    pytest.param("QORTAL_MCP_NODES", "http://x", "Unknown variable QORTAL_MCP_NODES.", id="name"),
    pytest.param("QORTAL_MCP_TOOLSETS", "nope", "--toolsets: there is no toolset", id="toolset"),
    pytest.param("QORTAL_MCP_TOKEN", "short", "The token in QORTAL_MCP_TOKEN", id="token"),
]


@pytest.mark.parametrize(("name", "value", "sentence"), WRONG)
def test_a_wrong_variable_is_one_sentence_without_a_chain(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(WrongSetting) as caught:
        _ = asgi.app
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.promise(
    "Library", "`qortal_mcp.asgi:app` takes its settings from variables, and only when it is asked for."
)
def test_importing_the_module_reads_nothing() -> None:
    assert "app" not in vars(sys.modules["qortal_mcp.asgi"])
