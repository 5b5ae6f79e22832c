"""The command: `python -m interop [--list] [NAME...]`, run by scripts/interop."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence

from interop.checks import CHECKS
from interop.programs import CannotInstall, install
from interop.runner import Check, run_checks


def main() -> int:
    """Returns the exit code: 0 all passed, 1 one failed, 2 wrong usage or a failed installation, 130 stopped."""
    parser = argparse.ArgumentParser(
        prog="interop",
        description="Runs other people's clients against this server and the bridge, and audits other people's servers.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a check, or the first words of several names"
    )
    parser.add_argument("--list", action="store_true", help="only print the names")
    options = parser.parse_args()
    chosen = [check for check in CHECKS if not options.names or _is_named(check, options.names)]
    unknown = [name for name in options.names if not any(_is_named(check, [name]) for check in CHECKS)]
    if unknown:
        parser.error(f"unknown check: {', '.join(unknown)}; --list shows all names")
    if options.list:
        print("\n".join(check.name for check in chosen))
        return 0
    try:
        return asyncio.run(_run(chosen))
    except CannotInstall as exc:
        print(f"interop: {exc}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("interop: stopped", file=sys.stderr)
        return 130


def _is_named(check: Check, names: Sequence[str]) -> bool:
    return any(check.name == name or check.name.startswith(f"{name}-") for name in names)


async def _run(checks: Sequence[Check]) -> int:
    # Like an interrupt: leave through every `finally`, so that no child is left behind.
    task = asyncio.current_task()
    assert task is not None, "asyncio.run made one"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    programs = await install()
    return 1 if await run_checks(checks, programs) else 0


if __name__ == "__main__":
    sys.exit(main())
