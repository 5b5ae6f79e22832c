"""What an endpoint of Core is: a frozen record, and the only place where a request is built.

A record says what an endpoint takes and returns. Each value is checked against
its type and written into its own place, percent-encoded.
"""

import math
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Struct

from ...protocol.decoding import decoder, has_more_values
from ...server.tool_errors import invalid_argument
from ..limits import REPLY_VALUES
from ..replies.reply import Amount, Count, Text, cleaned

_CHECKS: dict[int, list[tuple[Callable[[Any], bool], str]]] = {}

# Core's web server accepts 8 kB of request line and headers together.
_LONGEST_TARGET = 7 * 1024

# A 64-bit number, and white space around it.
_LONGEST_NUMBER = 40

DOTS = frozenset({"", ".", ".."})
_NEVER_IN_PATHS = "/\\%;"
_UNFIT = "It cannot be part of a path: it is . or .., or contains /, \\, % or ;."

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class TooManyValues(ValueError):
    """A reply that would take too long to decode."""


class Keep(Struct, frozen=True):
    """How long an answer may be reused."""

    # At most this long.
    seconds: float
    # And only while the newest block is still the same.
    until_next_block: bool = False


LIVE = Keep(2)
SECONDS = Keep(10)
# What is in blocks and what waits for one, in one answer.
SECONDS_AT_ONE_BLOCK = Keep(10, until_next_block=True)
# Live, and costly to request.
MINUTE = Keep(60)
FIVE_MINUTES = Keep(300)
UNTIL_NEXT_BLOCK = Keep(600, until_next_block=True)
# Things that never change once they exist, such as the name of an asset.
HOURS = Keep(3600)
FOR_EVER = Keep(math.inf)

# How many blocks on top make a block final, about a day's worth. Core itself gives up on a chain
# that forked from its own more than 240 blocks ago.
SETTLED_BLOCKS = 1440


class Same(Enum):
    """When every node gives the same answer, so that a different one means that a node is wrong."""

    # It follows from the request, or cannot change.
    ALWAYS = "always"
    # It is on the chain up to the newest block.
    AT_ONE_BLOCK = "at one block"
    # It is the node's own: its health, its peers, its memory, what it stores, its view of foreign chains.
    NEVER = "never"


class Request(Struct, frozen=True):
    """One GET, ready to send as written."""

    template: str
    target: str
    # How many rows were requested, if that is known. A node that sends more is not trusted.
    most_rows: int | None = None
    # The last block that it is about, if it is about blocks up to one.
    last_block: int | None = None


class Endpoint(Struct, Generic[T_co], frozen=True):
    """One endpoint of Core that may be requested."""

    template: str
    # How the body is read. Core's Content-Type says little; the endpoint decides.
    read: Callable[[bytes], T_co]
    keep: Keep
    path: Mapping[str, Any] = {}
    query: Mapping[str, Any] = {}
    # What it returns, for people and documents.
    returns: str = ""
    # What is "not found" when Core answers that there is nothing.
    noun: str = "Record"
    # The first version of Core that has it; anything older than 3.0 counts as 3.0.
    since: str = "3.0.0"
    # Parameters sent by default: without a limit Core returns every row there is.
    defaults: Mapping[str, Any] = {}
    # Core's error numbers that mean "not found" here, and only here.
    absent: frozenset[int] = frozenset()
    # The member of an object that holds its rows, which may be many. Core returns all of them.
    rows_in: str = ""
    # Filters of a search: without any of them Core refuses a limit above `limits.OPEN_SEARCH_ROWS`.
    more_with: tuple[str, ...] = ()
    # In how many places Core looks for rows, if it applies the limit to each of them.
    row_sources: int = 1
    # Whether it only helps to ask or to name: an answer made of other parts as well is as old as those.
    is_aside: bool = False
    # Whether a node may fetch what it lacks before it answers, so that being slow says nothing about its health.
    may_take_long: bool = False
    # The height of the newest block in an answer that is only about blocks; None for no block.
    height_of: Callable[[Any], int | None] | None = None
    # The last block that a request with these values is about; None for any block.
    last_block_of: Callable[[Mapping[str, Any]], int | None] | None = None
    # Whether rows of deep blocks can no longer change.
    is_final: Callable[[Any], bool] = lambda value: True
    # When all nodes give the same answer. If it is not said here, it follows from `keep`.
    same: Same | None = None
    # Members that are the node's own in an answer that is the same otherwise.
    own_members: frozenset[str] = frozenset()
    # Whether what was found is on the chain at all.
    is_on_chain: Callable[[Any], bool] = lambda value: True

    def same_for(self, values: Mapping[str, Any]) -> Same:
        """When all nodes give the same answer to a request with these values."""
        if values.get("confirmationStatus") in ("UNCONFIRMED", "BOTH"):
            return Same.NEVER
        if self.same is not None:
            return self.same
        if self.keep.until_next_block:
            return Same.AT_ONE_BLOCK
        return Same.ALWAYS if self.keep.seconds >= HOURS.seconds else Same.NEVER

    def keep_of(self, value: Any, tip_height: int | None, last_block: int | None = None) -> Keep:
        """How long this answer may be reused, if the newest block had that height before the request."""
        if tip_height is None:
            return self.keep
        height = last_block if self.height_of is None else self.height_of(value)
        is_settled = height is not None and tip_height - height >= SETTLED_BLOCKS
        return FOR_EVER if is_settled and self.is_final(value) else self.keep

    def request(self, values: Mapping[str, Any]) -> Request:
        """The request for these values. None and UNSET mean: not given.

        Raises: ToolError if a value does not fit; TypeError for a parameter that Core does not have here.
        """
        segments: dict[str, str] = {}
        parameters: dict[str, str] = {}
        given = {name: value for name, value in values.items() if value is not None and value is not UNSET}
        if self.defaults:
            given = {**self.defaults, **given}
        for name, value in given.items():
            if name in self.path:
                segments[name] = path_segment(name, _checked(name, value, self.path[name]))
            elif name in self.query:
                parameters[name] = _parameter(name, _checked(name, value, self.query[name]))
            else:
                raise TypeError(f"{self.template} has no parameter {name}")
        if len(segments) < len(self.path):
            raise TypeError(f"{self.template} needs {', '.join(self.path)}")
        target = self.template.format_map(segments) if segments else self.template
        if parameters:
            target += "?" + "&".join(parameters.values())
        if len(target) > _LONGEST_TARGET:
            raise invalid_argument("Invalid arguments.", "Together they are longer than a node accepts.")
        rows = given.get("limit", given.get("count"))
        last_block = None if self.last_block_of is None else self.last_block_of(given)
        return Request(self.template, target, None if rows is None else rows * self.row_sources, last_block)


def fits_a_path(text: str) -> bool:
    """Whether a text may be sent as a segment of a path, encoded or not.

    A proxy that decodes a path before it is routed would turn these characters into another path; HTTP clients fold dots.
    """
    return text not in DOTS and not any(letter in text for letter in _NEVER_IN_PATHS)


def path_segment(name: str, value: object) -> str:
    """A value as one segment of a path. Raises: ToolError if it is never sent there."""
    text = str(value)
    if not fits_a_path(text):
        raise invalid_argument(f"Invalid {name}.", _UNFIT)
    return _encoded(name, text)


def _encoded(name: str, value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if text.isalnum() and text.isascii():  # most values: addresses, numbers, Core's own words
        return text
    if not text:  # an empty parameter means "no filter" or "no limit" to Core
        raise invalid_argument(f"Invalid {name}.", "It is empty.")
    if "\0" in text:  # no text on the chain has it, and Core's web server refuses it
        raise invalid_argument(f"Invalid {name}.", "It contains the character \\u{0000}.")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise invalid_argument(f"Invalid {name}.", "It is not valid Unicode.") from None


def _checked(name: str, value: Any, kind: Any) -> Any:
    try:
        value = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise invalid_argument(f"Invalid {name}.") from None
    for check, noun in _checks_of(kind):
        if not (all(map(check, value)) if isinstance(value, list) else check(value)):
            raise invalid_argument(f"Invalid {noun or name}.")
    return value


def _checks_of(kind: Any) -> list[tuple[Callable[[Any], bool], str]]:
    """The checks of a type beyond its schema. Types are constants of this package, so each is inspected once."""
    checks = _CHECKS.get(id(kind))
    if checks is None:
        extras = [meta.extra or {} for meta in getattr(kind, "__metadata__", ())]
        checks = _CHECKS[id(kind)] = [
            (extra["check"], extra.get("noun", "")) for extra in extras if "check" in extra
        ]
    return checks


def _parameter(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "&".join(f"{name}={_encoded(name, each)}" for each in value)
    return f"{name}={_encoded(name, value)}"


def json_of(kind: type[T]) -> Callable[[bytes], T]:
    """Reads JSON of this type."""
    decode = decoder(kind)

    def read(body: bytes) -> T:
        return decode(few_enough(body))

    # As on the readers below, so that what an endpoint gives can be seen without asking it.
    read.__annotations__["return"] = kind
    return read


def few_enough(body: bytes) -> bytes:
    """JSON that can be decoded while others wait. Raises: TooManyValues."""
    if has_more_values(body, REPLY_VALUES):
        raise TooManyValues
    return body


def text(body: bytes) -> Text:
    """Reads plain text."""
    return cleaned(body.decode().strip(), Text)


def number(body: bytes) -> int:
    """Reads a body that is one whole number, as plain text."""
    if len(body) > _LONGEST_NUMBER:
        raise ValueError("too long for a number")
    return msgspec.convert(int(body), Count)


def amount(body: bytes) -> Amount:
    """Reads a body that is one amount, as plain text."""
    return cleaned(body.decode().strip(), Amount)
