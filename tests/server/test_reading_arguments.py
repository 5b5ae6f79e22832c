"""Arguments: strict, helpful when refused, and silent about secrets."""

from typing import Annotated, Any, Literal

import pytest
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from qortal_mcp.server import ToolError
from qortal_mcp.server.input.arguments import Arguments

Height = Annotated[int, Meta(ge=1, le=1000, description="A height.")]
Limit = Annotated[int, Meta(ge=1, le=100, extra={"clamp": True})]
Even = Annotated[int, Meta(extra={"check": lambda n: n % 2 == 0, "noun": "multiple of two"})]
Key = Annotated[str, Meta(max_length=200, extra={"key": True})]
Code = Annotated[str, Meta(max_length=10, extra={"number": True})]


class Everything(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    height: Height
    limit: Limit = 20
    even: Even | UnsetType = UNSET
    flag: bool = False
    side: Literal["buy", "sell"] = "buy"
    names: list[str] = []
    text: Annotated[str, Meta(max_length=1000)] = ""
    key: Key = ""
    code: Code = ""
    secret_door: Annotated[str, Meta(extra={"unlisted": True})] = ""


READER = Arguments(Everything, {"block_height": "height"})
SEED = "abandon ability able about above absent absorb abstract absurd abuse access accident"


def read(raw: bytes) -> tuple[Everything, list[str]]:
    value, notes = READER.read(Raw(raw))
    assert isinstance(value, Everything)
    return value, notes


GOOD: list[Any] = [
    (b'{"height":5}', {"height": 5}, 0),
    (b'{"height":"5"}', {"height": 5}, 1),
    (b'{"block_height":7}', {"height": 7}, 0),
    (b'{"height":5,"limit":1000}', {"limit": 100}, 1),
    (b'{"height":5,"limit":"1000"}', {"limit": 100}, 2),
    (b'{"height":5,"even":4}', {"even": 4}, 0),
    (b'{"height":5,"flag":null,"limit":null}', {"flag": False, "limit": 20}, 0),
    (b'{"height":5,"code":7}', {"code": "7"}, 0),
    (b'{"height":5,"secret_door":"x"}', {"secret_door": "x"}, 0),
    (b'{"height":5,"names":"a"}', {"names": ["a"]}, 1),
    (b'{"height":5,"flag":"True"}', {"flag": True}, 1),
    (b'{"height":5,"side":"SELL"}', {"side": "sell"}, 0),
    (b'{"height":5,"key":"' + b"ab" * 32 + b'"}', {"key": "ab" * 32}, 0),
]


@pytest.mark.promise("Tools and their results", "A number in quotes is understood, and a note says so.")
@pytest.mark.parametrize(("raw", "expected", "notes"), GOOD)
def test_arguments_are_read_and_what_was_read_otherwise_is_noted(
    raw: bytes, expected: dict[str, Any], notes: int
) -> None:
    value, said = read(raw)
    assert {name: getattr(value, name) for name in expected} == expected
    assert len(said) == notes


BAD: list[Any] = [
    (b"{}", "Missing argument height."),
    (b'{"height":null}', "Invalid height. height takes a whole number from 1 to 1000."),
    (b'{"height":0}', "Invalid height. height takes a whole number from 1 to 1000."),
    (b'{"height":5.0}', "Invalid height. height takes a whole number from 1 to 1000."),
    (b'{"height":"5.0"}', "Invalid height. height takes a whole number from 1 to 1000."),
    (b'{"height":"05"}', "Invalid height. height takes a whole number from 1 to 1000."),
    (b'{"height":true}', "Invalid height. height takes a whole number from 1 to 1000."),
    (b'{"height":"5\\n"}', "Invalid height. height takes a whole number from 1 to 1000."),
    (b'{"height":5,"limit":0}', "Invalid limit. limit takes a whole number from 1 to 100."),
    (b'{"height":5,"even":3}', "Invalid multiple of two. See the argument even."),
    (b'{"height":"5","even":3}', "Invalid multiple of two. See the argument even."),
    (b'{"height":5,"flag":"yes"}', "Invalid flag. flag takes true or false."),
    (b'{"height":5,"side":"both"}', "Invalid side. side takes one of: buy, sell."),
    (b'{"height":5,"names":true}', "Invalid names. names takes a list of texts."),
    (b'{"height":5,"names":[1]}', "Invalid names. names takes a list of texts."),
    (b'{"height":5,"names":["a",1]}', "Invalid names. names takes a list of texts. See names[1]."),
    (b'{"height":5,"height":5,"block_height":6}', "Invalid height. It is given twice, once as block_height."),
    (
        b'{"weight_of_all":5}',
        "Unknown argument weight_of_all. Valid arguments: height, limit, even, flag, side, names, text, key, code.",
    ),
    (
        b'{"heigth":5}',
        "Unknown argument heigth. Did you mean height? Valid arguments: height, limit, even, flag, side, names, text, key, code.",
    ),
]


@pytest.mark.parametrize(("raw", "words"), BAD)
def test_what_does_not_fit_is_refused_with_what_would(raw: bytes, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        READER.read(Raw(raw))
    assert str(caught.value) == words
    assert caught.value.code == "INVALID_ARGUMENT"


SECRETS = [
    b'{"height":5,"text":"%b"}' % SEED.encode(),
    b'{"height":"5","text":"%b"}' % SEED.encode(),
    b'{"height":"x","names":["%b"],"side":"q"}' % SEED.encode(),
    b'{"height":5,"%b":1}' % SEED.encode(),
    b'{"height":5,"text":"-----BEGIN PRIVATE KEY-----abcdefghijklmnopqrstuvwxyz"}',
    b'{"height":5,"text":"%b"}' % (b"0123456789abcdef" * 4),
]


@pytest.mark.promise(
    "Read-only and secrets",
    "An argument that looks like a key, a seed phrase or another secret is refused, never sent to the node and never repeated.",
)
@pytest.mark.parametrize("raw", SECRETS)
def test_a_secret_is_refused_and_never_repeated(raw: bytes) -> None:
    with pytest.raises(ToolError) as caught:
        READER.read(Raw(raw))
    assert "abandon" not in str(caught.value)
    assert "0123" not in str(caught.value)
    assert caught.value.code in ("REFUSED", "INVALID_ARGUMENT")


def test_a_length_is_not_shown_where_a_check_decides_and_is_checked_all_the_same() -> None:
    class Checked(Struct, frozen=True):
        word: Annotated[str, Meta(max_length=5, extra={"check": str.islower})] = "a"
        text: Annotated[str, Meta(max_length=5)] = "a"

    reader = Arguments(Checked)
    assert reader.schema["properties"]["word"] == {"type": "string", "default": "a"}
    assert reader.schema["properties"]["text"]["maxLength"] == 5
    for argument in ("word", "text"):
        with pytest.raises(ToolError, match=f"Invalid {argument}"):
            reader.read(Raw(b'{"%s":"toolong"}' % argument.encode()))


def test_the_schema_is_portable_and_hides_what_is_unlisted() -> None:
    schema = READER.schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["height"]
    assert "secret_door" not in schema["properties"]
    assert "$ref" not in str(schema)
