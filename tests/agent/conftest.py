"""The command `ask`, run within the tests' own process."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from tests.agent.scripted_endpoint import ScriptedEndpoint
from tests.cli.conftest import unchanged_process  # noqa: F401  it is for this folder too
from tests.cli.running import Ended

from qortal_mcp.cli.main import main

Ask: TypeAlias = Callable[..., Ended]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """`ask(endpoint, "question", "--sample")`: its exit code and what it wrote."""

    def run(endpoint: ScriptedEndpoint, *words: str, key: str = "") -> Ended:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("OPENAI_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_API_KEY", key)
        capsys.readouterr()
        code = main(["ask", *words])
        shown = capsys.readouterr()
        return Ended(code, shown.out, shown.err)

    return run
