"""The command: `python -m bench [--quick] [--write] [NAME...]`, run by scripts/bench."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from bench import (
    abuse,
    ask,
    audit,
    bridge,
    console,
    eras,
    http,
    memory,
    node,
    questions,
    start,
    together,
    trouble,
    under_load,
    waits,
    websocket,
)
from bench.contestants import prepare
from bench.environments import compile_bytecode
from bench.figures import Figure
from bench.processes import LOAD_CORE, ROOT, Failed
from bench.report import terminal_table, write_page
from bench.run import Run

PARTS: dict[str, Callable[[Run], list[Figure]]] = {
    start.PART: start.measure,
    http.PART: http.measure,
    websocket.PART: websocket.measure,
    node.PART: node.measure,
    questions.PART: questions.measure,
    together.PART: together.measure,
    trouble.PART: trouble.measure,
    memory.PART: memory.measure,
    waits.PART: waits.measure,
    abuse.PART: abuse.measure,
    audit.PART: audit.measure,
    bridge.PART: bridge.measure,
    eras.PART: eras.measure,
    ask.PART: ask.measure,
    console.PART: console.measure,
    under_load.PART: under_load.measure,
}


def main() -> int:
    """Returns the exit code: 0 every budget met, 1 one missed, 2 a part could not be measured or wrong usage, 130 stopped."""
    parser = argparse.ArgumentParser(prog="bench", description="Measures this server next to others.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"parts to run: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a short run: fewer rounds, fewer requests")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument(
        "--program",
        type=Path,
        default=ROOT / ".venv/bin/qortal-mcp",
        help="the qortal-mcp program to measure, if it is another build",
    )
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PARTS]
    if unknown:
        parser.error(f"unknown part: {', '.join(unknown)}; choose from {', '.join(PARTS)}")
    signal.signal(signal.SIGTERM, _stop)
    os.sched_setaffinity(0, {LOAD_CORE})
    try:
        figures, failed = _measure(options.names or list(PARTS), options.program, quick=options.quick)
    except Failed as exc:
        print(f"bench: {exc}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("bench: stopped", file=sys.stderr)
        return 130
    print(terminal_table(figures))
    for name, why in failed.items():
        print(f"\nbench: {name} could not be measured: {why}", file=sys.stderr)
    if options.write and not failed:
        write_page(figures, quick=options.quick)
    missed = sum(figure.is_met is False for figure in figures)
    judged = sum(figure.is_met is not None for figure in figures)
    print(f"\n{judged - missed} of {judged} budgets met.")
    return 2 if failed else 1 if missed else 0


def _measure(names: list[str], program: Path, *, quick: bool) -> tuple[list[Figure], dict[str, Failed]]:
    """The figures of every part that could be measured, and why the others could not. Raises: Failed."""
    contestants = prepare(program.resolve())
    compile_bytecode()
    run = Run(contestants, quick)
    figures: list[Figure] = []
    failed: dict[str, Failed] = {}
    for name in (name for name in PARTS if name in names):
        try:
            figures += PARTS[name](run)
        except Failed as exc:
            failed[name] = exc
            run.say(f"{name} failed")
    return figures, failed


def _stop(number: int, frame: FrameType | None) -> None:
    # Like an interrupt: leave through every `finally`, so that no child is left behind.
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
