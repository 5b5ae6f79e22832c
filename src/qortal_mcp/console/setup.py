"""What an operator has decided about the console."""

from collections.abc import Mapping

from msgspec import Struct

from ..settings.asking import ModelOptions, QuestionOptions
from ..settings.console import AuditTargets
from .asking.allowance import Allowing
from .auditing.places import Places


class ConsoleSetup(Struct, frozen=True, kw_only=True):
    """Without one, nothing is looked for and nothing but the chain is asked."""

    model: ModelOptions = ModelOptions()
    question: QuestionOptions = QuestionOptions()
    audit_targets: AuditTargets = "off"
    # Where the variables are looked up that name a model and its key.
    environ: Mapping[str, str] = {}
    # Only this machine can ask, so that a model on it may be used without being named.
    is_loopback: bool = False
    # Who keeps what callers may take, if other processes serve them as well.
    allowance: Allowing | None = None
    audits: Places | None = None
