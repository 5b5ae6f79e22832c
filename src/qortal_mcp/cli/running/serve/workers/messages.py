"""What is said between the workers and the process that looks after them, one JSON object a line."""

import msgspec
from msgspec import Struct

from .....console.asking.allowance import Place, Refusal
from .....console.auditing.places import Busy
from .....settings import LogOptions
from ..jobs import ServeChain, ServeFile

# The longest is what a worker is told as it starts: all settings.
LINE_BYTES = 1024 * 1024


class Handover(Struct, frozen=True, kw_only=True, tag=True):
    """The first thing a worker is told: what it serves, and what only the processes of this server may know."""

    number: int
    of: int
    secret: bytes
    token: str | None
    log: LogOptions
    job: ServeChain | ServeFile


class Report(Struct, frozen=True, tag=True):
    """All of you serve: say what is read, and whether it works. One of them is enough."""


class Show(Struct, frozen=True, tag=True):
    """Leave your numbers where others see them, and say so with this ticket."""

    ticket: int


class Renew(Struct, frozen=True, tag=True):
    """What was read again on a signal; None stays as it is."""

    token: str | None
    log: LogOptions | None


class Leave(Struct, frozen=True, tag=True):
    """All of you will stop soon: tell balancers and clients."""


class Answer(Struct, frozen=True, tag=True):
    """The answer to what a worker asked under this id."""

    id: int
    place: Place | None = None
    refusal: Refusal | None = None
    busy: Busy | None = None


class Ready(Struct, frozen=True, tag=True):
    """It serves."""


class Leaving(Struct, frozen=True, tag=True):
    """It was asked to end, and wants no more connections."""


class Shown(Struct, frozen=True, tag=True):
    ticket: int


class Renewed(Struct, frozen=True, tag=True):
    pass


class Look(Struct, frozen=True, tag=True):
    """Have all others leave their numbers where I see them."""

    id: int


class TakeQuestion(Struct, frozen=True, tag=True):
    id: int
    caller: str
    tokens: int | None
    seconds: float


class GiveQuestion(Struct, frozen=True, tag=True):
    number: int
    calls: int
    tokens: int


class TakeAudit(Struct, frozen=True, tag=True):
    id: int
    caller: str


class GiveAudit(Struct, frozen=True, tag=True):
    caller: str


ToWorker = Handover | Report | Show | Renew | Leave | Answer
FromWorker = Ready | Leaving | Shown | Renewed | Look | TakeQuestion | GiveQuestion | TakeAudit | GiveAudit
Asked = Look | TakeQuestion | TakeAudit

_encode = msgspec.json.Encoder().encode
to_worker = msgspec.json.Decoder(ToWorker).decode
from_worker = msgspec.json.Decoder(FromWorker).decode


def line(message: ToWorker | FromWorker) -> bytes:
    return _encode(message) + b"\n"
