"""Amounts as exact text with eight places. They are whole numbers of 0.00000001 and never become a float."""

import re

PLACES = 8
_ONE = 10**PLACES
# Core counts in 64 bits. Anything larger is nonsense, and the longer it is the more it costs to process.
_MOST_UNITS = 2**63

# Core writes zero as 0E-8, and repeats the minus sign after the point: -1.-50000000.
_AMOUNT = re.compile(r"(-?)([0-9]{1,30})(?:\.(-?)([0-9]{1,30}))?(?:[eE]([+-]?[0-9]{1,2}))?")

_PLAIN = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,8})?")


def units(text: str) -> int:
    """How many units of 0.00000001 an amount from Core is.

    Raises: ValueError if it is not an amount, has more than eight places, or is more than Core can count.
    """
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError("not an amount")
    sign, whole, inner_sign, fraction, exponent = match.groups(default="")
    if inner_sign and not sign and int(whole):
        raise ValueError("an amount with two signs")
    shift = int(exponent or 0) - len(fraction) + PLACES
    number, rest = divmod(int(whole + fraction) * 10 ** max(shift, 0), 10 ** max(-shift, 0))
    if rest:
        raise ValueError("an amount with more than eight places")
    if number > _MOST_UNITS:
        raise ValueError("an amount of more than 64 bits")
    return int(-number if sign or inner_sign else number)


def written(amount: int) -> str:
    """Units as text with eight places."""
    whole, fraction = divmod(abs(amount), _ONE)
    return f"{'-' if amount < 0 else ''}{whole}.{fraction:0{PLACES}d}"


def exact(text: str) -> str:
    """An amount from Core in our form. Raises: ValueError."""
    return written(units(text))


def ratio(amount: str, per: str) -> str | None:
    """One exact amount divided by another, rounded to eight places; None for division by zero."""
    divisor = units(per)
    if divisor <= 0:
        return None
    return written((2 * units(amount) * _ONE + divisor) // (2 * divisor))


def is_amount(text: str) -> bool:
    """Whether text from a person is an amount: digits, at most eight places, and no more than Core can count."""
    return _PLAIN.fullmatch(text) is not None and int(text.partition(".")[0]) < _MOST_UNITS // _ONE
