"""What judges the page: a Chromium, Playwright, axe-core, TypeScript and Prettier. Where they are, what is missing, and how the
last four are installed: `python -m tests.console.browser.programs`, run by scripts/browser.

`requirements.txt` comes from `echo playwright | uv pip compile - -c requirements-dev.txt` with the options that CONTRIBUTING.md
names; `package-lock.json` from `npm install --package-lock-only --omit-lockfile-registry-resolved`.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ROOT / ".browser" / "node_modules"
AXE = PACKAGES / "axe-core" / "axe.min.js"
TSC = PACKAGES / "typescript" / "bin" / "tsc"
PRETTIER = PACKAGES / "prettier" / "bin" / "prettier.cjs"

_PINS = Path(__file__).parent
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_NO_BROWSER = (
    "no Chromium was found: install one, or name it in the variable CHROMIUM, then run scripts/browser"
)
_NO_PLAYWRIGHT = "Playwright is not installed: run scripts/browser"
_NO_NPM = "Node with npm is not on the PATH: install it, then run scripts/browser"
_NO_PACKAGES = "axe-core, TypeScript and Prettier are not installed: run scripts/browser"
# Playwright is 50 MB, over a slow connection.
_INSTALL_SECONDS = 900.0


class CannotInstall(Exception):
    """Something could not be installed; the text says what and why."""


def is_required() -> bool:
    """Whether a browser that is missing is a failure, as in CI, and not a reason to skip."""
    return os.environ.get("CONSOLE_BROWSER") == "required"


def chromium() -> str | None:
    """The browser, by the variable CHROMIUM or by a name that systems give it."""
    named = os.environ.get("CHROMIUM")
    return next((found for name in ((named,) if named else _BROWSERS) if (found := shutil.which(name))), None)


def no_browser() -> str:
    """Why no page can be opened; empty if one can."""
    if chromium() is None:
        return _NO_BROWSER
    return "" if importlib.util.find_spec("playwright") else _NO_PLAYWRIGHT


def no_packages() -> str:
    """Why axe-core, TypeScript and Prettier cannot be asked; empty if they can."""
    if shutil.which("node") is None:
        return _NO_NPM
    return "" if all(one.exists() for one in (AXE, TSC, PRETTIER)) else _NO_PACKAGES


def install() -> None:
    """Install what can be installed here, once. Raises: CannotInstall."""
    if chromium() is None:
        _install_chromium()
    if chromium() is not None:
        _install_playwright()
    if shutil.which("npm") is not None:
        _install_packages()


def _install_chromium() -> None:
    """Only where nobody else uses the system: in CI."""
    if os.environ.get("CI") and os.geteuid() == 0 and shutil.which("apt-get"):
        _say("Installing Chromium")
        _step(["apt-get", "update", "-qq"])
        _step(["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"])


def _install_playwright() -> None:
    pins = _PINS / "requirements.txt"
    stamp = Path(sys.prefix) / ".playwright-installed"
    if _is_installed(stamp, pins) and importlib.util.find_spec("playwright"):
        return
    _say("Installing Playwright, once")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _step([*pip, "--require-hashes", "-r", str(pins)])
    shutil.copy(pins, stamp)


def _install_packages() -> None:
    home, lock = PACKAGES.parent, _PINS / "package-lock.json"
    stamp = home / ".installed"
    if _is_installed(stamp, lock) and not no_packages():
        return
    _say("Installing axe-core, TypeScript and Prettier, once")
    home.mkdir(exist_ok=True)
    shutil.copy(_PINS / "package.json", home)
    shutil.copy(lock, home)
    _step(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=home)
    shutil.copy(lock, stamp)


def _is_installed(stamp: Path, pins: Path) -> bool:
    return stamp.exists() and stamp.read_bytes() == pins.read_bytes()


def _say(text: str) -> None:
    print(f"{text}.", file=sys.stderr, flush=True)


def _step(command: Sequence[str], cwd: Path = ROOT) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired as exc:
        raise CannotInstall(f"`{' '.join(command)}` took more than {_INSTALL_SECONDS:.0f} s") from exc
    if done.returncode:
        raise CannotInstall(f"`{' '.join(command)}` failed:\n{done.stdout[-2000:]}")


def main() -> int:
    """Returns the exit code: 0 ready, or not required and asked for only if possible; 1 something is missing."""
    parser = argparse.ArgumentParser(
        prog="scripts/browser", description="Installs what the tests of the page need."
    )
    parser.add_argument(
        "--if-possible", action="store_true", help="say nothing about what is missing, unless it is required"
    )
    is_needed = is_required() or not parser.parse_args().if_possible
    try:
        install()
    except CannotInstall as exc:
        print(f"scripts/browser: {exc}", file=sys.stderr)
        return int(is_needed)
    lacking = [reason for reason in (no_browser(), no_packages()) if reason]
    if is_needed:
        for reason in lacking:
            print(f"scripts/browser: {reason}", file=sys.stderr)
    return int(is_needed and bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
