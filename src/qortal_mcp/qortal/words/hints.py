"""Hints for wrong arguments, based on what was given. `arguments` says which argument gets which hint."""

from typing import Any

from .services import SERVICES
from .times import is_seconds

# Shorter than any attempt at an address.
_ADDRESS_CHARS = 30
# Core counts up to 92 thousand million.
_MOST_DIGITS = 10


def if_a_name(value: Any) -> str:
    """Callers often give an account's registered name, which has letters and is shorter than an address."""
    is_name = isinstance(value, str) and 3 <= len(value) < _ADDRESS_CHARS and any(map(str.isalpha, value))
    return "For the owner of a registered name, write @ before it." if is_name else ""


def address_or_key(value: Any) -> str:
    return f"Give an address, a public key or @ and a registered name. {if_a_name(value)}".strip()


def nearest_services(value: Any) -> str:
    from difflib import get_close_matches

    names = [service.name for service in SERVICES if not service.is_private]
    near = get_close_matches(str(value)[:40].strip().upper(), names)
    return "No QDN service has this name or code." + (f" Nearest: {', '.join(near)}." if near else "")


def time_forms(value: Any) -> str:
    forms = "Give ISO 8601, such as 2026-11-15T17:00:00Z, milliseconds since 1970, or 24h, 7d, 2w, 1y for so long ago."
    return f"This looks like seconds. {forms}" if is_seconds(str(value)) else forms


def amount_form(value: Any) -> str:
    whole, _, places = str(value).partition(".")
    is_large = whole.isdecimal() and len(whole) > _MOST_DIGITS and places.isdecimal() >= bool(places)
    return (
        "That is more than there can be."
        if is_large
        else 'Give text with at most eight places, such as "12.5".'
    )
