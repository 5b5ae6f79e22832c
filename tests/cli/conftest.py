"""Commands that run within the tests' own process must leave it as they found it."""

import logging
import os
from collections.abc import Iterator

import pytest
from tests.bridge.standins import Loop


@pytest.fixture(autouse=True)
def unchanged_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings from outside, a fixed width, and logging as it was."""
    for name in os.environ:
        if name.startswith("QORTAL_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(scope="session")
def loop() -> Iterator[Loop]:
    """Where servers that are not ours run."""
    loop = Loop()
    yield loop
    loop.stop()
