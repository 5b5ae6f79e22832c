"""Numbers as Java writes them."""

from collections.abc import Iterable

_PLACES = 8
# BigDecimal switches to scientific notation below this power of ten.
_SMALLEST_PLAIN_POWER = -6


def java_decimal(amount: int) -> str:
    """An amount as Java writes a BigDecimal of scale eight: 12.34000000, 0E-8, 1.2E-7."""
    digits = str(abs(amount))
    power = len(digits) - 1 - _PLACES
    sign = "-" if amount < 0 else ""
    if power >= _SMALLEST_PLAIN_POWER:
        digits = digits.rjust(_PLACES + 1, "0")
        return f"{sign}{digits[:-_PLACES]}.{digits[-_PLACES:]}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}E{power}"


def java_hash_order(numbers: Iterable[int]) -> list[int]:
    """Small whole numbers in the order in which Java iterates over a copy of a HashMap with these keys."""
    wanted = list(numbers)
    # A copy's table has room for a third more than its entries, rounded up to a power of two.
    table = 1
    while table < len(wanted) * 4 // 3 + 1:
        table *= 2
    return sorted(wanted, key=lambda number: number % table)
