"""What a test does where something that judges the page is missing."""

import pytest
from tests.console.browser import programs


def require(reason: str) -> None:
    """Skip the test for a reason, if there is one; fail where everything is required."""
    if reason and programs.is_required():
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
