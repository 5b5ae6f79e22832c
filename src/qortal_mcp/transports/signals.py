"""Which signals ask a server to stop."""

import signal


def stop_signals() -> list[signal.Signals]:
    """Also the one of a closed terminal, unless somebody ignores it (nohup) or has another use for it."""
    found = [signal.SIGTERM, signal.SIGINT]
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is not None and signal.getsignal(hang_up) is signal.SIG_DFL:
        found.append(hang_up)
    return found
