"""pydantic is no dependency: nobody loads it for those who do not use it, and its absence is said in words."""

import subprocess
import sys

PLAIN = """
import sys

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from qortal_mcp import Context, Server, tool

class Colour(Enum):
    RED = "red"

@dataclass
class Wall:
    colour: Colour
    file: Path = Path("wall")

@tool
def paint(walls: list[Wall]) -> dict[str, Wall]:
    "Paints walls."
    return {}

Server("walls", tools=[paint])
print(sorted({"pydantic", "pydantic_core", "annotated_types"} & set(sys.modules)))
"""
ABSENT = """
import sys

sys.modules["pydantic"] = None
from typing import Annotated
from annotated_types import Gt
from qortal_mcp import tool

def take(number: Annotated[int, Gt(0)]) -> int:
    "Takes a number."
    return number

try:
    tool(take)
except TypeError as exc:
    print(exc)
"""


def _printed(program: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    return ended.stdout.strip()


def test_it_is_not_loaded_for_types_of_the_standard_library() -> None:
    assert _printed(PLAIN) == "[]"


def test_a_type_that_needs_it_is_refused_where_it_is_absent() -> None:
    assert _printed(ABSENT) == (
        "take: the parameter number cannot be an argument: pydantic is not installed, and this type is described for it; "
        "install it, or write msgspec's Meta instead"
    )
