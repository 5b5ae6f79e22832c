"""A run as it is sent at its end: with no more of its calls than there is room for."""

import msgspec
from msgspec.structs import replace

from ...agent.run import Call, Run

_LEFT_OUT = "[left out: the calls of this question have more than is sent at its end]"
_NOTICE = "The calls of this question have more than is sent at its end: {count} of them came without arguments and result."


def sendable_run(run: Run, most_bytes: int) -> Run:
    """The run with its first calls in full, as many as fit, and of the others only that they were made."""
    calls: list[Call] = []
    left = most_bytes
    for call in run.calls:
        left -= len(msgspec.json.encode(call))
        calls.append(call if left >= 0 else replace(call, arguments={}, text=_LEFT_OUT, warnings=()))
    count = sum(call.text is _LEFT_OUT for call in calls)
    if not count:
        return run
    return replace(run, calls=tuple(calls), notices=(*run.notices, _NOTICE.format(count=count)))
