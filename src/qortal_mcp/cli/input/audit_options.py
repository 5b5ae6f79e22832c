"""The options of `audit` as records: what to visit, what may be called, how long to wait, what to write."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct


class VisitOptions(Struct, frozen=True, kw_only=True):
    """Which server, in which revisions."""

    # One address or capture.
    targets: tuple[str, ...] = ()
    # The command after `--`; None where there is no `--`.
    argv: tuple[str, ...] | None = None
    revisions: tuple[str, ...] = ()
    header_file: str | None = None


class CallOptions(Struct, frozen=True, kw_only=True):
    """Which tools may be called."""

    # Each as on the command line: 'TOOL JSON'.
    named: tuple[str, ...] = ()
    calls_file: str | None = None
    call_all: bool = False
    no_calls: bool = False


class TimeOptions(Struct, frozen=True, kw_only=True):
    """How many seconds an answer, and the whole audit, may take."""

    timeout: float
    max_time: float


class OutputOptions(Struct, frozen=True, kw_only=True):
    """Where the report, the capture and the new baseline go."""

    as_json: bool = False
    junit: str | None = None
    sarif: str | None = None
    markdown: str | None = None
    capture: str | None = None
    write_baseline: str | None = None
    emit_tests: str | None = None

    @property
    def reports(self) -> dict[str, str]:
        """The reports to write: the form of each, and its file."""
        forms = {"junit": self.junit, "sarif": self.sarif, "markdown": self.markdown}
        return {form: path for form, path in forms.items() if path is not None}


class AuditOptions(Struct, frozen=True, kw_only=True):
    """Everything that stands on the command line."""

    visit: VisitOptions
    calls: CallOptions
    time: TimeOptions
    output: OutputOptions
    baseline: str | None = None
    # These look at no server.
    diff: tuple[str, str] | None = None
    explain: str | None = None
    clients: str | None = None


def grouped(options: Mapping[str, Any], argv: tuple[str, ...] | None) -> AuditOptions:
    """The records of what click has read. Each takes the options that have the names of its fields."""
    return AuditOptions(
        visit=msgspec.convert({**options, "argv": argv}, VisitOptions),
        calls=msgspec.convert(options, CallOptions),
        time=msgspec.convert(options, TimeOptions),
        output=msgspec.convert(options, OutputOptions),
        baseline=options["baseline"],
        diff=options["diff"],
        explain=options["explain"],
        clients=options["clients"],
    )
