"""The real server, for tests of its door."""

from collections.abc import Iterator

import pytest
from tests.door import Door, open_door


@pytest.fixture
def door() -> Iterator[Door]:
    with open_door("--sample") as running:
        yield running
