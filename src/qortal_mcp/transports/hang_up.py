"""Whether the other side has hung up, though there may be more to read."""

import select

# What a system does not know is not asked for. Linux reports an end of input with it before the input is read.
_ENDED = getattr(select, "POLLRDHUP", 0)


def has_hung_up(fd: int) -> bool:
    """Whether the other end of a pipe is closed, or that of a connection sends nothing more."""
    if not hasattr(select, "poll"):  # Windows
        return False
    poll = select.poll()
    poll.register(fd, _ENDED)
    return any(event & (select.POLLHUP | select.POLLERR | _ENDED) for _, event in poll.poll(0))
