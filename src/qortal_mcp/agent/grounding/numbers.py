"""How numbers are written, and which values a written number can stand for.

A number without a sign says nothing about the sign: "fell by 5" is how people write -5. A number with a minus says
that it is negative.
"""

import re
from decimal import Context, Decimal
from typing import NamedTuple

from .lookups import Value

# Longer numbers are looked up as they are written: no amount, height or time has that many digits.
MOST_DIGITS = 60
# No rounding and no traps: every number here has at most MOST_DIGITS digits and an exponent of that size.
EXACT = Context(prec=8 * MOST_DIGITS, traps=[])

_SPACES = " \u00a0\u2007\u2009\u202f"
_APOSTROPHES = "'’ʼ"
# Digits of any script. Groups of three may have spaces between them. A list without spaces is read in pieces of a
# bounded length: what follows a number may make a search begin again at each of its groups.
BODY = rf"(?:\d++(?:[.,{_APOSTROPHES}_٫٬]\d++|[{_SPACES}]\d{{3}}(?!\d)){{0,20}}+|\.\d++)"
EXPONENT = r"(?:[eE][+-]?\d{1,12}(?!\w)|\s?[×x*·]\s?10(?:\^|\*\*)?[+-−]?(?:\d{1,3}|[⁰¹²³⁴-⁹⁻]{1,4}))"

_PLAIN = re.compile(r"(?P<whole>\d*)(?:\.(?P<part>\d+))?")
_COMMA = re.compile(r"(?P<whole>\d+),(?P<part>\d+)")
# 1,234,567.8 and the Indian 12,34,567.8; 1.234.567,8.
_GROUPED = re.compile(r"(?P<whole>\d{1,3}(?P<by>[,' _])\d{2,3}(?:(?P=by)\d{2,3})*)(?:\.(?P<part>\d+))?")
_GROUPED_COMMA = re.compile(r"(?P<whole>\d{1,3}(?P<by>[.' ])\d{3}(?:(?P=by)\d{3})*)(?:,(?P<part>\d+))?")
_SAME = str.maketrans(
    {
        **dict.fromkeys(_SPACES, " "),
        **dict.fromkeys(_APOSTROPHES, "'"),
        "٫": ".",
        "٬": ",",
        "−": "-",
        "⁻": "-",
    }
    | dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
)
_NO_MARKS = dict.fromkeys(map(ord, ",.' _"))
_POWER = re.compile(r"(?:[eE]|10(?:\^|\*\*)?)([+-]?\d+)$")
_TRAILING_ZEROS = re.compile(r"0*$")


class Plain(NamedTuple):
    """A number in one reading: digits before and after the point."""

    whole: str
    part: str = ""


def readings(body: str) -> list[tuple[Plain, ...]]:
    """What the text of a number can mean. More than one number: a list without spaces, such as 1,2,3."""
    body = as_ascii(body)
    found = [
        (Plain(match["whole"].translate(_NO_MARKS) or "0", match["part"] or ""),)
        for form in (_PLAIN, _COMMA, _GROUPED, _GROUPED_COMMA)
        if (match := form.fullmatch(body)) and _is_grouped(match)
    ]
    if found:
        return list(dict.fromkeys(found))
    parts = re.split(r"[,' _]", body)
    numbers = [
        Plain(match["whole"] or "0", match["part"] or "")
        for part in parts
        if (match := _PLAIN.fullmatch(part))
    ]
    return [tuple(numbers)] if len(numbers) == len(parts) else []


def _is_grouped(match: re.Match[str]) -> bool:
    return "by" not in match.re.groupindex or len(re.split(r"\D", match["whole"])[-1]) == 3


def value(
    plain: Plain,
    *,
    times: Decimal = Decimal(1),
    power: int = 0,
    is_negative: bool = False,
    is_about: bool = False,
) -> Value | None:
    """What a number says, or None if it has too many digits to be one."""
    if len(plain.whole) + len(plain.part) > MOST_DIGITS or abs(power) > MOST_DIGITS:
        return None
    magnitude = Decimal(f"{plain.whole}.{plain.part or 0}")
    unit = Decimal(1).scaleb(-len(plain.part))
    if is_about and not plain.part and magnitude:
        zeros = _TRAILING_ZEROS.search(plain.whole)
        unit = Decimal(1).scaleb(len(zeros[0]) if zeros else 0)
    factor = EXACT.multiply(times, Decimal(1).scaleb(power))
    return Value(
        EXACT.multiply(magnitude, factor), EXACT.multiply(unit, factor), is_negative and bool(magnitude)
    )


def power_of(exponent: str) -> int:
    """The power of ten of an exponent, as EXPONENT finds it."""
    match = _POWER.search(as_ascii(exponent))
    return int(match[1]) if match else 0


def as_ascii(text: str) -> str:
    """Digits and separators of any script as their ASCII kin."""
    if text.isascii():
        return text
    return "".join(str(int(char)) if char.isdecimal() else char for char in text.translate(_SAME))
