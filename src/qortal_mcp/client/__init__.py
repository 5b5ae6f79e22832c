"""The MCP client: reaches any server over any transport, shows every byte, and judges nothing."""

from .answering import ElicitRequest, Handler, Handlers, SamplingRequest, elicitation, roots, sampling
from .client import Client, connect
from .eras import Era, Terms
from .errors import (
    AnswerRefused,
    ClientError,
    ConnectionLost,
    HttpRefused,
    MalformedReply,
    NotSupported,
    RequestTimeout,
    ServerError,
    SessionGone,
)
from .limits import ClientLimits
from .listed import ListedPrompt, ListedResource, ListedTemplate, ListedTool, Listing, OddItem
from .options import Options
from .pending import Progress, Reply
from .results import CallResult, OddBlock
from .subscription import Subscription
from .transcript import Http, Observer, Record, Transcript
from .wires.targets import open_old_wire, open_wire
from .wires.wire import Outgoing, RawWire, Sink, Wire

__all__ = [
    "AnswerRefused",
    "CallResult",
    "Client",
    "ClientError",
    "ClientLimits",
    "ConnectionLost",
    "ElicitRequest",
    "Era",
    "Handler",
    "Handlers",
    "Http",
    "HttpRefused",
    "ListedPrompt",
    "ListedResource",
    "ListedTemplate",
    "ListedTool",
    "Listing",
    "MalformedReply",
    "NotSupported",
    "Observer",
    "OddBlock",
    "OddItem",
    "Options",
    "Outgoing",
    "Progress",
    "RawWire",
    "Record",
    "Reply",
    "RequestTimeout",
    "SamplingRequest",
    "ServerError",
    "SessionGone",
    "Sink",
    "Subscription",
    "Terms",
    "Transcript",
    "Wire",
    "connect",
    "elicitation",
    "open_old_wire",
    "open_wire",
    "roots",
    "sampling",
]
