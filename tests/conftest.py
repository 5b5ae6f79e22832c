"""What every test may rely on."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# How fast examples are made and tried says something about the machine and nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# A shell that starts the tests in the background lets them ignore interrupts, nohup a closed terminal, and every program they start with
# them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# The folder of the official JSON Schemas, one file per revision: with it our table of shapes is compared with them.
SCHEMAS = os.environ.get("MCP_SCHEMAS")
collect_ignore = [] if SCHEMAS else ["matrix/test_official_schemas.py"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    said = f"compared ({SCHEMAS})" if SCHEMAS else "not compared (MCP_SCHEMAS is not set)"
    terminalreporter.write_line(f"official schemas: {said}")
