"""What every test may rely on."""

import signal

from hypothesis import HealthCheck, settings

# How fast examples are made and tried says something about the machine and nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# A shell that starts the tests in the background lets them ignore interrupts, and every program they start with them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
