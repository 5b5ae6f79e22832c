"""One build for all tests of the built files."""

import pytest
from tests.release.building import Built


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("built") / "dist")
