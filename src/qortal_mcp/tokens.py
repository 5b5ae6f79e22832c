"""How many tokens a model spends on reading a tool: name, description and the schema of its arguments."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Struct

# Our own definitions have 4.3 characters per token of o200k; a round 4 errs on the side of caution.
CHARS_PER_TOKEN = 4.0
ENCODING = "o200k_base"


class Counter(Struct, frozen=True):
    """A way to count tokens, and whether it is exact."""

    count: Callable[[str], int]
    is_exact: bool

    def written(self, tokens: int) -> str:
        return f"{tokens}" if self.is_exact else f"~{tokens}"


def as_read(definition: dict[str, Any]) -> str:
    """What a client shows its model."""
    seen = {name: definition[name] for name in ("name", "description", "inputSchema") if name in definition}
    return msgspec.json.encode(seen).decode()


def estimate(text: str) -> int:
    return round(len(text) / CHARS_PER_TOKEN)


def best_counter() -> Counter:
    """The real tokenizer if it is available without a download, otherwise an estimate."""
    try:
        tiktoken: Any = import_module("tiktoken")
        loading: Any = import_module("tiktoken.load")
    except ImportError:
        return Counter(estimate, False)
    download = loading.read_file
    loading.read_file = _refuse
    try:
        encoding = tiktoken.get_encoding(ENCODING)
    except Exception:  # whatever it raises without its table, there is no tokenizer
        return Counter(estimate, False)
    finally:
        loading.read_file = download
    return Counter(lambda text: len(encoding.encode_ordinary(text)), True)


def _refuse(path: str) -> bytes:
    raise OSError("counting tokens must not download anything")
