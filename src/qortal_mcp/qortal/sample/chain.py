"""The data of the sample chain. Loaded when first needed, and then only the families that are requested."""

import functools
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

_FILE = Path(__file__).with_name("chain.json")


class Chain:
    """Families of answers by name, such as `accounts` or `blocks`, in Core's own JSON."""

    def __init__(self, data: bytes) -> None:
        self._raw = msgspec.json.decode(data, type=dict[str, Raw])
        self._read: dict[str, Any] = {}

    def __getitem__(self, family: str) -> Any:
        if family not in self._read:
            self._read[family] = msgspec.json.decode(self._raw[family])
        return self._read[family]


@functools.cache
def sample_chain() -> Chain:
    return Chain(_FILE.read_bytes())
