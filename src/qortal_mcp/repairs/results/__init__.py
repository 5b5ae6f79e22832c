"""What `tools/call` is answered with."""

from typing import Any

from ..repair import Repair
from .blocks import BLOCKS
from .failures import ERRORS, FAILURES, FLAGS
from .media import MEDIA
from .modern import MODERN
from .shape import LAST, SHAPE
from .structured import STRUCTURED
from .texts import EARLY_TEXTS, TEXTS

# In the order in which they are applied: first where the value is, then what it says, then how much of it.
RESULTS: tuple[Repair[Any], ...] = (
    *ERRORS,
    *MODERN,
    *SHAPE,
    *FLAGS,
    *BLOCKS,
    *MEDIA,
    *EARLY_TEXTS,
    *FAILURES,
    *STRUCTURED,
    *LAST,
    *TEXTS,
)
