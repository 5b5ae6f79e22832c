"""The form of the page's modules and styles, which Prettier gives them: `python -m tests.console.formatting`, run by scripts/fix."""

import subprocess
import sys

from tests.console.browser import programs

from qortal_mcp.console.files import STATIC

_STYLE = ("--print-width", "110", "--single-quote", "--no-config", "--no-editorconfig")


def unformatted() -> list[str]:
    """The files that do not have the form."""
    return _prettier("--list-different").stdout.splitlines()


def _prettier(action: str) -> subprocess.CompletedProcess[str]:
    files = [str(path) for path in sorted(STATIC.rglob("*")) if path.suffix in (".js", ".css")]
    words = ["node", str(programs.PRETTIER), *_STYLE, action, *files]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


if __name__ == "__main__":
    if missing := programs.no_packages():
        print(f"The page is not formatted: {missing}.", file=sys.stderr)
    else:
        sys.exit(_prettier("--write").returncode)
