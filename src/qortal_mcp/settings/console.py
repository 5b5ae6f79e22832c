"""What the console may do beyond showing the chain."""

from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta

from .option import Options

AuditTargets: TypeAlias = Literal["off", "loopback", "any"]


class ConsoleOptions(Options, frozen=True, kw_only=True):
    """What the console may do."""

    title: ClassVar[str] = "Console"

    audit_targets: Annotated[
        AuditTargets | None,
        Meta(
            description="Which addresses the audit page of the console may contact: none, those of this machine, or any.",
            extra={"default": "loopback if it listens there, off beyond"},
        ),
    ] = None


def audit_targets_of(options: ConsoleOptions, *, is_loopback: bool) -> AuditTargets:
    """Which addresses may be contacted by a server that listens on loopback, or beyond it."""
    return options.audit_targets or ("loopback" if is_loopback else "off")
