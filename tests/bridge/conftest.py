"""What the tests of the bridge share."""

from collections.abc import Iterator

import pytest
from tests.bridge.standins import Loop


@pytest.fixture(scope="session")
def loop() -> Iterator[Loop]:
    """Where all stand-ins run."""
    loop = Loop()
    yield loop
    loop.stop()
