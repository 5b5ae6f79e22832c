"""What a server says unasked."""

from typing import Any

from .repair import Repair

NOTICES: tuple[Repair[Any], ...] = ()
