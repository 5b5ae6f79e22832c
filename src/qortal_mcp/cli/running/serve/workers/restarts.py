"""When a worker that ended is started again: at once if it had served for a while, later and later if it keeps ending."""

from msgspec import Struct

# Whoever served this long did not end because of how it was started.
_STEADY_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 30.0
# With none that serves, so many starts in a row that came to nothing are enough.
MOST_FAILURES = 5


class Restarts(Struct):
    """The restarts of one worker."""

    in_a_row: int = 0

    def ended(self, served_seconds: float | None) -> float:
        """The pause before the next start. None: it never served."""
        self.in_a_row = (
            0 if served_seconds is not None and served_seconds >= _STEADY_SECONDS else self.in_a_row + 1
        )
        if served_seconds is not None and self.in_a_row <= 1:
            return 0.0
        pause: float = _FIRST_PAUSE_SECONDS * 2 ** (self.in_a_row - 1)
        return min(_LONGEST_PAUSE_SECONDS, pause)
