"""Every text and every amount that a node can send has a type that cleans it, and comes out clean."""

import base64
import importlib
import pkgutil
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import UNSET, Struct, UnsetType, structs

from qortal_mcp.qortal import replies
from qortal_mcp.qortal.endpoints import ENDPOINTS
from qortal_mcp.qortal.endpoints.crosschain import LEDGER
from qortal_mcp.qortal.endpoints.record import Endpoint
from qortal_mcp.qortal.limits import CONTENT_CHARS, LISTED_CHAT_CHARS, TEXT_CHARS
from qortal_mcp.qortal.replies.chat import ChatLine, ChatMessage
from qortal_mcp.qortal.replies.reply import Amount, Chars, Exact, Finite, Reply, Text
from qortal_mcp.qortal.replies.transactions import Transaction
from qortal_mcp.qortal.words.base58 import encode

HOSTILE = "evil\u202egnp\u200b.exe\x1b[31m\u2066\ufeff\U000e0041\\u{202E}"
SHOWN = "evil\\u{202E}gnp\\u{200B}.exe\\u{001B}[31m\\u{2066}\\u{FEFF}\\u{E0041}\\u{005C}u{202E}"
# Core's spellings of amounts, and what they mean.
AMOUNTS = {
    "0E-8": "0.00000000",
    "-1.-50000000": "-1.50000000",
    "0.-50000000": "-0.50000000",
    "7": "7.00000000",
}
NO_AMOUNTS = [HOSTILE, "", "NaN", "1e99", "9" * 1000, "0.000000001"]

# What is looked at before it is shown, and left out where it is not what it should be.
JUDGED = {
    "ChatMessage.data",
    "ChatMessage.text",
    "ChatLine.data",
    "ChatLine.text",
    "GroupChat.signature",
    "Trade.qortalCreatorTradeAddress",
    "Trade.qortalPartnerAddress",
    "Trade.qortalPartnerReceivingAddress",
    "Transaction.text",
}
LONG = 100_000


def given_by(endpoint: Endpoint[Any]) -> Any:
    """The type of what an endpoint gives, as its reader declares it."""
    return get_type_hints(endpoint.read, include_extras=True)["return"]


def marks_of(kind: Any) -> list[Chars | Exact | Finite]:
    return [mark for mark in getattr(kind, "__metadata__", ()) if isinstance(mark, Chars | Exact | Finite)]


def bound_of(kind: Any) -> int:
    mark = marks_of(kind)[-1]
    assert isinstance(mark, Chars)
    return mark.at_most


def parts(kind: Any) -> Iterator[Any]:
    """The types that a type is made of, down to those that have no parts; a marked text is one of them."""
    if get_origin(kind) is Annotated and not marks_of(kind):
        yield from parts(get_args(kind)[0])
    elif get_origin(kind) in (list, dict, Union, UnionType):
        for each in get_args(kind):
            yield from parts(each)
    else:
        yield kind


def reply_types() -> dict[type[Struct], None]:
    """Every Struct in what the endpoints give, in the order in which they are met."""
    found: dict[type[Struct], None] = {}

    def walk(kind: Any) -> None:
        for part in parts(kind):
            if isinstance(part, type) and issubclass(part, Struct) and part not in found:
                found[part] = None
                for field in structs.fields(part):
                    walk(field.type)

    for endpoint in ENDPOINTS:
        walk(given_by(endpoint))
    return found


TYPES = list(reply_types())
FIELDS = [(reply, field) for reply in TYPES for field in structs.fields(reply)]
PLACES = [
    *((endpoint.template, given_by(endpoint)) for endpoint in ENDPOINTS),
    *((f"{reply.__name__}.{field.name}", field.type) for reply, field in FIELDS),
]
MARKED = [
    pytest.param(reply, field.name, kind, id=f"{reply.__name__}.{field.name}")
    for reply, field in FIELDS
    for kind in parts(field.type)
    if marks_of(kind)
]
TEXTS = [param for param in MARKED if isinstance(marks_of(param.values[2])[-1], Chars)]
SUMS = [param for param in MARKED if isinstance(marks_of(param.values[2])[-1], Exact)]


def test_every_text_that_a_node_can_send_has_a_type_that_cleans_it() -> None:
    harmless = (int, float, bool, bytes, NoneType, UnsetType)
    unclean = [
        (place, part)
        for place, kind in PLACES
        for part in parts(kind)
        if not (
            part in harmless
            or marks_of(part)
            or get_origin(part) is Literal
            or (isinstance(part, type) and issubclass(part, Reply))
        )
    ]
    assert unclean == []
    assert len(TEXTS) > 150
    assert len(SUMS) > 20


def test_every_reply_type_is_what_some_endpoint_gives() -> None:
    modules = [
        importlib.import_module(f"{replies.__name__}.{m.name}")
        for m in pkgutil.iter_modules(replies.__path__)
    ]
    declared = {
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Struct) and kind.__module__ == module.__name__
    }
    met = {base for reply in TYPES for base in reply.__mro__}
    assert declared - met == {Chars, Exact, Finite}


_SENT: dict[type, Any] = {Chars: "", Exact: "1.00000000", Finite: 0.5}


def sent(kind: Any, **given: Any) -> Any:
    """What a node may send for a type; of a reply, `given` are members that are not as usual."""
    if marks_of(kind):
        return _SENT[type(marks_of(kind)[-1])]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return sent(inner[0])
    if origin in (Union, UnionType):
        return sent(next(each for each in inner if each not in (NoneType, UnsetType)))
    if origin in (list, dict):
        return origin()
    if origin is Literal:
        return inner[0]
    if kind in (int, float, bool):
        return kind()
    required = {field.name: sent(field.type) for field in structs.fields(kind) if field.required}
    return {**required, **given}


def member(kind: Any, value: str) -> Any:
    """What a node sends for the type of a member, with a text or an amount in its place."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated and not marks_of(kind):
        return member(inner[0], value)
    if origin in (Union, UnionType):
        return member(next(each for each in inner if each not in (NoneType, UnsetType)), value)
    if origin is list:
        return [value]
    return {value: sent(inner[1])} if origin is dict else value


def read(reply: type[Struct], name: str, value: str) -> Any:
    """The text or amount in a member of a reply, as it comes out when a node sends this."""
    kind = next(field.type for field in structs.fields(reply) if field.name == name)
    body = msgspec.json.encode(sent(reply, **{name: member(kind, value)}))
    found = getattr(msgspec.json.decode(body, type=reply), name)
    return next(iter(found)) if isinstance(found, list | dict) else found


@pytest.mark.parametrize(("reply", "name", "kind"), [param for param in TEXTS if param.id not in JUDGED])
def test_hostile_text_comes_out_printable_and_bounded(reply: type[Struct], name: str, kind: Any) -> None:
    at_most = bound_of(kind)
    assert read(reply, name, HOSTILE) == SHOWN
    assert read(reply, name, "x" * LONG) == f"{'x' * at_most}… [{LONG - at_most} more characters]"
    assert read(reply, name, "\u202e" * LONG).startswith("\\u{202E}" * at_most + "… [")


@pytest.mark.parametrize(("reply", "name", "kind"), [param for param in TEXTS if param.id in JUDGED])
@pytest.mark.parametrize("text", [HOSTILE, "x" * (LONG - 1), "\u202e" * LONG], ids=["hidden", "long", "both"])
def test_what_is_judged_before_it_is_shown_lets_nothing_hostile_by(
    reply: type[Struct], name: str, kind: Any, text: str
) -> None:
    try:
        shown = read(reply, name, text)
    except msgspec.ValidationError:
        shown = None
    assert shown in (None, UNSET)


@pytest.mark.parametrize(("reply", "name", "kind"), SUMS)
def test_amounts_come_out_exact_or_not_at_all(reply: type[Struct], name: str, kind: Any) -> None:
    assert {spelt: read(reply, name, spelt) for spelt in AMOUNTS} == AMOUNTS
    for text in NO_AMOUNTS:
        with pytest.raises(msgspec.ValidationError):
            read(reply, name, text)


@pytest.mark.parametrize(("reply", "at_most"), [(ChatMessage, CONTENT_CHARS), (ChatLine, LISTED_CHAT_CHARS)])
def test_what_is_said_in_a_chat_is_cleaned_after_it_is_decoded(
    reply: type[ChatMessage], at_most: int
) -> None:
    def said(text: str) -> str | None:
        data = base64.b64encode(text.encode()).decode()
        return msgspec.convert(sent(reply, isText=True, data=data), reply).text

    assert said(HOSTILE) == SHOWN
    assert said("x" * LONG) == f"{'x' * at_most}… [{LONG - at_most} more characters]"


def test_a_message_is_cleaned_after_it_is_decoded() -> None:
    message = {"type": "MESSAGE", "isText": True, "isEncrypted": False, "data": encode(HOSTILE.encode())}
    assert msgspec.convert(sent(Transaction, **message), Transaction).text == SHOWN


PLAIN = [
    pytest.param(endpoint, given_by(endpoint), id=endpoint.template)
    for endpoint in ENDPOINTS
    if marks_of(given_by(endpoint))
]


@pytest.mark.parametrize(("endpoint", "kind"), PLAIN)
@pytest.mark.parametrize("text", [HOSTILE, "x" * LONG], ids=["hidden", "long"])
def test_a_body_that_is_plain_text_is_clean_or_refused(endpoint: Endpoint[Any], kind: Any, text: str) -> None:
    try:
        shown = endpoint.read(text.encode())
    except ValueError:
        return
    assert shown == SHOWN or shown.startswith("x" * bound_of(kind) + "… [")


def test_a_ledger_is_cleaned() -> None:
    row = f"{HOSTILE},{'x' * LONG},0E-8,1,{HOSTILE},-1.-50000000,20240101 00:00,Qortal"
    header = "Market,Currency,Quantity,Commission Paid,Commission Currency,Total Price,Date Time,Exchange"
    (entry,) = LEDGER.read(f"{header}\n{row}\n".encode())
    assert (entry.market, entry.commission_currency) == (SHOWN, SHOWN)
    assert len(entry.currency) < 2 * TEXT_CHARS
    assert (entry.quantity, entry.commission, entry.total_price) == (
        "0.00000000",
        "1.00000000",
        "-1.50000000",
    )


class Nested(Reply):
    texts: list[Text | None]
    by_name: dict[Text, Amount]
    by_number: dict[int, Text | None]
    rows: list[list[Text]] | UnsetType = UNSET


def test_text_is_found_wherever_it_is() -> None:
    whole = {
        "texts": [HOSTILE, None],
        "by_name": {HOSTILE: "0E-8"},
        "by_number": {1: HOSTILE, 2: None},
        "rows": [[HOSTILE]],
    }
    reply = msgspec.json.decode(msgspec.json.encode(whole), type=Nested)
    assert reply.texts == [SHOWN, None]
    assert reply.by_name == {SHOWN: "0.00000000"}
    assert reply.by_number == {1: SHOWN, 2: None}
    assert reply.rows == [[SHOWN]]


class Bare(Struct):
    text: Text


@pytest.mark.parametrize(
    "kind", [str, str | None, list[str], dict[str, int], dict[Text, Any], msgspec.Raw, Bare, Text | int]
)
def test_a_reply_with_text_that_nothing_cleans_is_never_made(kind: Any) -> None:
    reply = msgspec.defstruct("Careless", [("text", kind, None)], bases=(Reply,))
    with pytest.raises(RuntimeError, match="nothing says how"):
        msgspec.json.decode(b"{}", type=reply)
