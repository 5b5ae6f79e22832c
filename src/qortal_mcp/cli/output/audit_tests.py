"""What `audit --emit-tests` writes: files that were not there before."""

from pathlib import Path

import click

from ...audit.emitting import emit
from ...audit.evidence import Evidence
from ...audit.judging.finding import Report
from ..running import failures


def check_writable(folder: str) -> None:
    """Say before the work what would fail after it. Raises: Undetermined."""
    for name in (emit.TESTS, emit.SCRIPT):
        if (path := Path(folder, name)).exists():
            raise failures.Undetermined(f"{path} exists already; tests are never overwritten")
    if not Path(folder).is_dir() and (Path(folder).exists() or not Path(folder).absolute().parent.is_dir()):
        raise failures.Undetermined(f"Cannot write tests into {folder}: it is not a folder")


def write(report: Report, evidence: Evidence, folder: str) -> None:
    """Raises: Undetermined."""
    try:
        texts = emit.files_of(report, evidence)
        if not texts:
            click.echo("Nothing was found that a test can show; no tests were written.", err=True)
            return
        Path(folder).mkdir(exist_ok=True)
        for name, text in texts.items():
            with Path(folder, name).open("x", encoding="utf-8") as file:
                file.write(text)
        Path(folder, emit.SCRIPT).chmod(0o755)
    except emit.NotPossible as exc:
        raise failures.Undetermined(f"No tests are written: {exc}") from exc
    except OSError as exc:
        raise failures.Undetermined(f"Cannot write tests into {folder}: {exc.strerror}") from exc
    click.echo(f"Tests are in {folder}: run pytest {folder}, or {Path(folder, emit.SCRIPT)}.", err=True)
