"""`qortal-mcp`. Clients wait for `stdio` each time they start, so that command has a fast path."""

import gc
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words[:1] == ["stdio"] and _served_stdio(words[1:]):
            return 0
        from .program import run

        return run(words)
    except KeyboardInterrupt:  # while loading; later each command handles it
        return 130


def _served_stdio(words: Sequence[str]) -> bool:
    # Nothing created while loading is garbage, and looking for some takes a tenth of the time.
    gc.disable()
    from .running.stdio_without_click import serve_stdio

    try:
        return serve_stdio(words)
    finally:
        gc.enable()
