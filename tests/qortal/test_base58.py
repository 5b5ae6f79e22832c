import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.qortal.words.base58 import NoRipemd, address_of, decode, encode, is_address

from .world import ALICE, ALICE_KEY, CONTRACT, NODE_ID, WRONG_CHECKSUM

NULL_ACCOUNT = "QdSnUy6sUiEnaN87dWmE92g1uQjrvPgrWG"


@given(st.binary(max_size=128))
def test_what_was_encoded_decodes_to_itself(data: bytes) -> None:
    assert decode(encode(data)) == data


@pytest.mark.parametrize("address", [ALICE, CONTRACT, NULL_ACCOUNT])
def test_accounts_and_contracts_are_addresses(address: str) -> None:
    assert is_address(address)


@pytest.mark.parametrize(
    "text", ["", "bad", WRONG_CHECKSUM, NODE_ID, ALICE.lower(), ALICE + "1", f" {ALICE}", "1" * 34, "Q" * 34]
)
def test_anything_else_is_none(text: str) -> None:
    assert not is_address(text)


@given(st.text(max_size=60))
def test_no_text_upsets_the_check(text: str) -> None:
    is_address(text)


def test_long_text_is_refused_before_it_costs_anything() -> None:
    with pytest.raises(ValueError, match="too long"):
        decode("z" * 100_000)


def test_a_public_key_leads_to_its_address() -> None:
    assert address_of(ALICE_KEY) == ALICE
    assert address_of("1" * 32) == NULL_ACCOUNT


def test_a_python_without_ripemd_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, data: bytes = b"") -> None:
        raise ValueError(f"unsupported hash type {name}")

    monkeypatch.setattr(hashlib, "new", missing)
    with pytest.raises(NoRipemd, match="RIPEMD-160"):
        address_of(ALICE_KEY)
