"""Small parts of the server: what looks secret, schemas of types, rate limits."""

import hashlib
from base64 import b64encode, urlsafe_b64encode
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct
from tests.cost import is_linear

from qortal_mcp.server.input.private_keys import looks_secret
from qortal_mcp.server.offers.schema import is_object_schema, schema_of, wrapped
from qortal_mcp.server.rates.rate import RateLimit

WORDS = "abandon ability able about above absent absorb abstract absurd abuse access accident"
SECRETS = [
    pytest.param(WORDS, id="twelve-words"),
    pytest.param(f"  {WORDS} {WORDS}\n", id="twenty-four-words"),
    pytest.param(WORDS.replace(" ", ", "), id="words-with-commas"),
    *(
        pytest.param(WORDS.replace(" ", joint), id=f"words-joined-by-{ord(joint[0]):x}")
        for joint in ("-", "_", ".", "/", ",", "\n", " - ", "--")
    ),
    pytest.param(
        WORDS.replace(" ", "-", 5).replace(" ", "/", 3).replace(" ", "\n", 1), id="words-joined-anyhow"
    ),
    pytest.param(f"note-{WORDS.replace(' ', '-')}-{WORDS.replace(' ', '-')}", id="joined-within-other-text"),
    pytest.param("-----BEGIN EC PRIVATE KEY-----\nMHQCAQEEIB\n", id="pem"),
    pytest.param("ab" * 32, id="32-bytes-hex"),
    pytest.param("0x" + "AB" * 32, id="32-bytes-hex-prefix"),
    pytest.param("ab" * 64, id="64-bytes-hex"),
    pytest.param("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", id="wif"),
    pytest.param("xprv" + "9" * 107, id="extended-key"),
    pytest.param("7kuT1dfMhUysWcLEV1eYk8ir7RTjszHmsUdrrPQNThcv", id="32-bytes-base58"),
]
HEX = hashlib.sha256(b"a key").hexdigest()
BASE58 = "7kuT1dfMhUysWcLEV1eYk8ir7RTjszHmsUdrrPQNThcv"
WIF = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"


def wide(text: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) if letter > " " else letter for letter in text)


def groups(size: int, joint: str) -> str:
    return joint.join(HEX[at : at + size] for at in range(0, len(HEX), size))


DISGUISED = {
    **{f"title-{joint}": WORDS.title().replace(" ", joint) for joint in "-.+_/"},
    **{f"upper-{joint}": WORDS.upper().replace(" ", joint) for joint in "-.+_/"},
    "capitals": WORDS.title().replace(" ", ""),
    "far-apart": WORDS.replace(" ", " --------- "),
    "wide": wide(WORDS),
    "mathematical": "".join(chr(0x1D41A + ord(letter) - 97) if letter > " " else letter for letter in WORDS),
    "soft-hyphens": WORDS.replace("b", "b\u00ad"),
    "zero-width-inside": WORDS.replace("b", "b\u200b"),
    "zero-width-between": WORDS.replace(" ", "\u200b"),
    "accents": WORDS.replace("a", "a\u0301"),
    "accents-composed": WORDS.replace("a", "á"),
    "hex-colons": groups(2, ":"),
    "hex-spaces": groups(2, " "),
    "hex-eights": groups(8, " "),
    "hex-lines": groups(32, "\n"),
    "hex-bytes": "0x" + groups(2, ", 0x"),
    "hex-upper-prefix": f"0X{HEX}",
    "hex-after-word": f"key{HEX}",
    "hex-wide": wide(HEX),
    "base58-zero-width": f"{BASE58[:22]}\u200b{BASE58[22:]}",
    "base58-wide": wide(BASE58),
    "base58-space": f"{BASE58[:22]} {BASE58[22:]}",
    "wif-zero-width": f"{WIF[:20]}\u200b{WIF[20:]}",
    "wif-wide": wide(WIF),
    "wif-spaces": " ".join(WIF[at : at + 10] for at in range(0, len(WIF), 10)),
    "base64-32": b64encode(bytes.fromhex(HEX)).decode(),
    "base64-64": b64encode(bytes.fromhex(HEX) * 2).decode(),
    "base64-url": urlsafe_b64encode(bytes.fromhex(HEX)).decode(),
    "pkcs8-ed25519": b64encode(bytes.fromhex("302e020100300506032b657004220420" + HEX)).decode(),
    "pkcs8-rsa": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
    "sec1": b64encode(bytes.fromhex("30770201010420" + HEX + "a00a06082a8648ce3d030107")).decode(),
}
HARMLESS = [
    "",
    "QdSnUy6sUiEnaN87dWmE92g1uQjrvPgrWG",
    "hello world",
    "a sentence with quite a number of ordinary words that nobody would take for anything but prose, ever",
    "The Quick Brown Fox Jumps Over The Lazy Dog And Then Some More Words Follow",
    WORDS.rpartition(" ")[0],
    "ab" * 31,
    WORDS.rpartition(" ")[0].replace(" ", "-"),
    "a-well-known-state-of-the-art-read-only-end-to-end-server-for-people-who-like-long-hyphenated-words-and-more",
    "https://example.org/guides/how-to-run-a-node-on-linux/with-docker/and-some-patience/for-new-users/part-two",
    "src/main/java/org/example/api/model/crosschain/bitcoin/requests/BitcoinSendRequest.java",
    "com.example.server.protocol.messages.handlers.version_one.requests.incoming.RequestHandlerFactory",
    "z" * 200,
    "ab" * 33,
    "The-Quick-Brown-Fox-Jumps-Over-The-Lazy-Dog-And-Then-Some-More-Words-Follow",
    "Qortal.Release.Notes.For.Version.Five.With.Many.Small.Changes.Since.Last.Summer",
    "Ein Märchen über die schönen Tage in der großen Stadt, erzählt für Kinder und für alle anderen Leute",
    "TheServerWithAllTheThingsThatYouWouldNeverHaveGuessedFromItsName",
    " ".join(str(year) for year in range(2000, 2016)),
    " ".join(f"{number:02}" for number in range(10, 42)),
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301 6fa459ea-ee8a-3ca4-894e-db77e160355e",
    "My Best Video Ever Part 2 Of 3 With Music And Much More Fun",
    "My Three Best Cheap Node Computers Part 2 From Summer Tests",
    "https://example.org/search?some_quite_long_name_of_a_parameter_A1=",
    "key_of_a_setting_with_a_rather_long_name_A12=value",
    "MII is how many a certificate begins, which this text is about at some length",
    f"{HEX}0",
]


@pytest.mark.parametrize("text", SECRETS)
def test_what_looks_like_a_key_is_seen(text: str) -> None:
    assert looks_secret(text)


@pytest.mark.parametrize("text", DISGUISED.values(), ids=DISGUISED)
def test_a_disguise_does_not_help(text: str) -> None:
    assert looks_secret(text)
    assert looks_secret(f"qortal://name/{text}")


@pytest.mark.parametrize("text", [HEX, f"0x{HEX}", BASE58, groups(2, ":"), DISGUISED["base64-32"]])
def test_where_a_key_may_stand_it_is_let_through(text: str) -> None:
    assert not looks_secret(text, may_be_raw=True)


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert not looks_secret(text)


@pytest.mark.promise("Limits and abuse", "Deep nesting and other costly input take no noticeable time.")
@pytest.mark.parametrize(
    "piece",
    [
        "abc ",
        "a",
        "1",
        "-----BEGIN ",
        "abcdefgh,",
        "abandon-",
        "abandon_" * 11 + "the_",
        "Abandon",
        "ab:",
        "\u0301\u0323",
        "\ufdfa",
        "MIIE",
        "A1a+",
    ],
    ids=ascii,
)
def test_looking_takes_linear_time_whatever_the_text_is(piece: str) -> None:
    assert is_linear(lambda size: "a" + piece * (size // len(piece)), looks_secret, 1_000_000)


class Inner(Struct):
    """An inner thing."""

    title: str
    size: Annotated[int, Meta(ge=0)] | None = None


class Outer(Struct):
    inner: Inner
    many: list[Inner]
    kind: Literal["a", "b"] = "a"


class Loop(Struct):
    next: "Loop | None" = None


def test_a_schema_has_no_references_and_no_decoration() -> None:
    schema = schema_of(Outer)
    assert is_object_schema(schema)
    assert "$ref" not in str(schema)
    assert "$defs" not in schema
    inner = schema["properties"]["inner"]
    assert set(inner["properties"]) == {"title", "size"}  # a property may be called title
    assert "title" not in {key for key in inner if key != "properties"}
    assert inner["properties"]["size"] == {"type": ["integer", "null"], "minimum": 0, "default": None}
    assert schema["properties"]["many"]["items"] == inner
    assert schema["properties"]["kind"]["enum"] == ["a", "b"]
    assert schema["required"] == ["inner", "many"]


def test_a_type_that_contains_itself_is_refused() -> None:
    with pytest.raises(TypeError, match="contains itself"):
        schema_of(Loop)


@pytest.mark.parametrize("kind", [int, list[int], int | None, Literal["x"], Any])
def test_what_is_no_object_is_wrapped_under_result(kind: Any) -> None:
    schema = wrapped(schema_of(kind))
    assert is_object_schema(schema)
    assert schema["required"] == ["result"]


def test_a_caller_has_a_burst_and_then_waits() -> None:
    clock = [0.0]
    rate = RateLimit(2.0, lambda: clock[0])
    assert [rate.wait("a") for _ in range(5)] == [0.0, 0.0, 0.0, 0.0, 0.5]
    assert rate.wait("b") == 0.0
    clock[0] = 0.25
    assert rate.wait("a") == pytest.approx(0.25)
    clock[0] = 0.5
    assert rate.wait("a") == 0.0
    clock[0] = 1000.0
    assert [rate.wait("a") for _ in range(5)].count(0.0) == 4


def test_a_slow_rate_still_lets_one_call_through() -> None:
    rate = RateLimit(0.1, lambda: 0.0)
    assert rate.wait("a") == 0.0
    assert rate.wait("a") == pytest.approx(10.0)


@pytest.mark.promise(
    "Limits and abuse", "A rate limit holds for each caller, and callers are remembered within bounds."
)
def test_callers_are_forgotten_in_bounds() -> None:
    rate = RateLimit(1.0, lambda: 0.0)
    for caller in range(10_000):
        rate.wait(str(caller))
    assert len(rate._buckets) <= 4096
