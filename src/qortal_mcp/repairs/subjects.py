"""What repairs look at. Each is made for one message and changed in place."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ..protocol.versions import STRUCTURED


class Asked(Struct, frozen=True, kw_only=True):
    """The circumstances of an answer: who asked, and what was wrong with the envelope."""

    # Of the client in front: what it can read.
    revision: str
    is_modern: bool = False
    method: str = ""
    # Of `resources/read`: what was to be read.
    uri: str = ""

    @property
    def reads_structured(self) -> bool:
        return self.revision >= STRUCTURED


class KnownTool(Struct, frozen=True, kw_only=True):
    """What the server lists of a tool, as far as repairs of its results need it."""

    name: str
    # As it is listed to the client; None if it is not, or not any longer.
    output_schema: dict[str, Any] | None = None
    # The server's own schema describes something that is not an object; results are listed and wrapped as {"result": …}.
    is_wrapped: bool = False


class CallResult(Struct, kw_only=True):
    """What came back from `tools/call`: a value under `result`, or an error object. One of the two is ABSENT."""

    value: Any
    error: Any
    asked: Asked
    # None: the tool is not listed, or no list could be read.
    tool: KnownTool | None = None
    # Set by the repair that finds a result that contradicts its schema: the schema must go from the list.
    drops_schema: bool = False


class ListPage(Struct, kw_only=True):
    """One page of a list: the value under `result`. `member` is where its items belong: "tools", "prompts"…"""

    value: Any
    member: str
    asked: Asked


class ToolEntry(Struct, kw_only=True):
    """One item of a list of tools. A repair that cannot save it sets `is_lost`: the tool is left out, the rest stays."""

    value: Any
    asked: Asked
    # Names that other tools of this server are listed under by now.
    taken: set[str]
    is_lost: bool = False
    # What the tool's results must be put under, if its own schema describes something that is not an object.
    is_wrapped: bool = False


class OtherEntry(Struct, kw_only=True):
    """One item of a list of resources, resource templates or prompts."""

    value: Any
    asked: Asked
    member: str
    is_lost: bool = False


class Handshake(Struct, kw_only=True):
    """What came back from `initialize`: a value under `result`, or an error object. One of the two is ABSENT."""

    value: Any
    error: Any
    asked: Asked
    # How the server is called if it does not say: its address or command.
    target: str = ""
    # By capability: whether its list is answered. What was not tried is not in it.
    serves: Mapping[str, bool] = {}


class OtherResult(Struct, kw_only=True):
    """What came back from any other method: a value under `result`, or an error object. One of the two is ABSENT."""

    value: Any
    error: Any
    asked: Asked


class Notice(Struct, kw_only=True):
    """A notification or request of the server: its method and parameters. ABSENT parameters are left out."""

    method: str
    params: Any
    asked: Asked


Subject = CallResult | ListPage | ToolEntry | OtherEntry | Handshake | OtherResult | Notice
