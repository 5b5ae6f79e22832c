import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.qortal.sample.core.java import java_decimal
from qortal_mcp.qortal.words.amounts import exact, ratio, units, written

UNITS = st.integers(min_value=-(2**63), max_value=2**63)


@pytest.mark.promise(
    "Data of the chain", "Amounts are exact decimal strings with eight places, however the node writes them."
)
@pytest.mark.parametrize(
    ("core", "text"),
    [
        ("12.34000000", "12.34000000"),
        ("0E-8", "0.00000000"),
        ("1E-8", "0.00000001"),
        ("1.2E-7", "0.00000012"),
        ("-1.-50000000", "-1.50000000"),
        ("0.-50000000", "-0.50000000"),
        ("7", "7.00000000"),
        ("1E+3", "1000.00000000"),
        ("92233720368.54775807", "92233720368.54775807"),
    ],
)
def test_every_way_core_writes_an_amount_is_put_right(core: str, text: str) -> None:
    assert exact(core) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1,5",
        "NaN",
        "1.",
        ".5",
        "1.-5",
        "0.000000001",
        "1E999",
        "1e99",
        "92233720368.54775809",
        "0x1",
        "1\n",
        "<html>",
        "٣",
    ],
)
def test_what_is_no_exact_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="amount"):
        exact(text)


@given(UNITS)
def test_amounts_survive_being_written_and_read(amount: int) -> None:
    assert units(written(amount)) == amount
    assert Decimal(written(amount)) == Decimal(amount) / 10**8


@given(UNITS)
def test_amounts_survive_the_way_java_writes_them(amount: int) -> None:
    assert units(java_decimal(amount)) == amount


@given(st.text(max_size=40))
def test_no_text_upsets_the_reader(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert units(exact(text)) == units(text)


def test_a_price_is_rounded_to_the_nearest_and_needs_something_to_divide_by() -> None:
    assert ratio("0.00500000", "10.00000000") == "0.00050000"
    assert ratio("1.00000000", "3.00000000") == "0.33333333"
    assert ratio("2.00000000", "3.00000000") == "0.66666667"
    assert ratio("1.00000000", "0.00000000") is None
