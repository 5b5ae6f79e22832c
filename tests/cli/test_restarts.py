"""When a worker that ended is started again."""

from qortal_mcp.cli.running.serve.workers.restarts import Restarts


def test_one_that_served_is_replaced_at_once() -> None:
    restarts = Restarts()
    assert restarts.ended(3600.0) == 0
    assert restarts.ended(60.0) == 0


def test_one_that_keeps_ending_is_started_later_and_later_but_always_again() -> None:
    restarts = Restarts()
    pauses = [restarts.ended(0.5) for _ in range(20)]
    assert pauses[0] == 0
    assert pauses == sorted(pauses)
    assert pauses[-1] == 30
    assert restarts.ended(3600.0) == 0  # it has served for long: all is well again


def test_one_that_never_served_is_not_started_again_at_once() -> None:
    assert Restarts().ended(None) > 0
