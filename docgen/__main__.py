"""`scripts/docs` writes the documents; `scripts/docs --check` fails where they are stale."""

import argparse
import difflib
import sys
from pathlib import Path

from .generated import BESIDE_TOOLS, DEFINITIONS, FILES, ROOT, documents
from .markers import BrokenMarkers
from .promises_page import BrokenPromise
from .questions_page import NoAnswer
from .tools_page import NoExample

_DIFF_LINES = 12


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="scripts/docs", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 where a document is stale"
    )
    check = parser.parse_args(arguments).check
    try:
        stale = sum(settle(root / path, path, FILES[path](), check) for path in (DEFINITIONS, BESIDE_TOOLS))
        for path, wanted in list(documents(root)):  # nothing more is written where one of them fails
            stale += settle(root / path, path, wanted, check)
    except (BrokenMarkers, BrokenPromise, NoAnswer, NoExample) as exc:
        print(f"scripts/docs: {exc}.", file=sys.stderr)
        return 1
    return 1 if check and stale else 0


def settle(file: Path, path: str, wanted: str, check: bool) -> int:
    """Write a document that is stale, or say that it is: 1 in both cases, 0 for one that is right."""
    found = file.read_text(encoding="utf-8") if file.exists() else ""
    if found == wanted:
        return 0
    if check:
        print(f"{path} is stale: run scripts/docs.\n{summary(found, wanted)}", file=sys.stderr)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(wanted, encoding="utf-8")
        print(f"{path} written.")
    return 1


def summary(found: str, wanted: str) -> str:
    """The first lines that differ, and how many more there are."""
    changes = [
        line
        for line in difflib.unified_diff(found.splitlines(), wanted.splitlines(), lineterm="", n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    more = len(changes) - _DIFF_LINES
    return "\n".join([*changes[:_DIFF_LINES], *([f"… and {more} more lines"] if more > 0 else [])])


if __name__ == "__main__":
    raise SystemExit(main())
