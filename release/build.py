"""`scripts/build`: everything that a release hands out, in one folder, without asking anybody anything."""

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .bundle import build_bundle
from .licences import UnknownLicence
from .lock import pins
from .moment import source_moment
from .packages import build_packages
from .project import ROOT, project
from .registry import released_server_json
from .sbom import sbom

SUMS = "SHA256SUMS"


def build(root: Path, into: Path, image: str | None = None) -> list[Path]:
    """Builds every file anew and returns where they are.

    Raises: UnknownLicence.
    """
    told, moment = project(root), source_moment(root)
    parts = sbom(told, pins(root), moment)  # first: it may refuse, and then nothing is written
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    sdist, wheel = build_packages(root, told, into, moment)
    bundle = build_bundle(root, told, into, moment)
    files = [
        sdist,
        wheel,
        bundle,
        _json(into / f"{told.name}-{told.version}.cdx.json", parts),
        _json(into / "server.json", released_server_json(told, bundle, sha256(bundle), image)),
    ]
    sums = into / SUMS
    sums.write_text("".join(f"{sha256(file)}  {file.name}\n" for file in files), encoding="utf-8")
    return [*files, sums]


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _json(file: Path, value: dict[str, Any]) -> Path:
    file.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def main(arguments: list[str] | None = None, say: Callable[[str], None] = print) -> int:
    parser = argparse.ArgumentParser(prog="scripts/build", description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "dist", metavar="FOLDER", help="default: dist")
    parser.add_argument("--image", metavar="NAME", help="an image that was pushed, for server.json")
    options = parser.parse_args(arguments)
    try:
        for file in build(ROOT, options.into, options.image):
            say(f"{file.stat().st_size:>9,} bytes  {file}")
    except UnknownLicence as exc:
        print(f"scripts/build: {exc}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
