"""What every test may rely on."""

import signal

# A shell that starts the tests in the background lets them ignore interrupts, and every program they start with them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
