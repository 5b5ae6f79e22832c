"""A process of our own for work that a hostile server can make long or large: its command, and its bounds on itself."""

import contextlib
import json
import math
import sys

# The process imports what this one would, wherever that is; nothing from the folder it happens to start in.
_START = (
    "import importlib, json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "importlib.import_module(sys.argv[2]).main(*sys.argv[3:])"
)


def command(module: str, *arguments: str) -> tuple[str, ...]:
    """The command line that calls `main` of a module with these arguments."""
    return (sys.executable, "-I", "-c", _START, json.dumps(sys.path), module, *arguments)


def bound(*, memory_bytes: int, cpu_seconds: float) -> None:
    """Bound this process, where the system can. The bounds hold even if nobody is left to end it."""
    try:
        import resource
    except ImportError:  # not on this system
        return
    bounds = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CPU: math.ceil(cpu_seconds),
        resource.RLIMIT_CORE: 0,
    }
    for what, most in bounds.items():
        # Some systems know a limit by name and refuse to set it.
        with contextlib.suppress(ValueError, OSError):
            _, hard = resource.getrlimit(what)
            resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
