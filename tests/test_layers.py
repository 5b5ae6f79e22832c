"""Who may import whom. Imports inside functions count: an arrow that is drawn late is still an arrow."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "qortal_mcp"
ROOT = Path(__file__).resolve().parents[1] / "src" / PACKAGE

# From the bottom up. A part may import parts below it, and itself; never a neighbour or what is above.
LAYERS: list[set[str]] = [
    {"patterns"},
    {"", "text", "limits", "metrics", "tokens"},
    {"logs", "shared_memory"},
    {"protocol"},
    {"schemas", "store"},
    {"server", "client", "repairs"},
    {"transports", "qortal", "audit", "one_of_several"},
    {"bridge", "agent", "tracing"},
    {"settings"},
    {"from_settings", "model_from_settings", "door", "connect"},
    {"console", "doctor"},
    {"application"},
    {"cli", "asgi"},
    {"__main__"},
]
# Arrows beside the layers, each with its reason.
ALLOWED = {
    ("", "limits"): "one import for users of the library, resolved when it is used",
    ("", "protocol"): "one import for users of the library, resolved when it is used",
    ("", "server"): "one import for users of the library, resolved when it is used",
    ("", "transports"): "one import for users of the library, resolved when it is used",
    ("client", "server"): "the client in memory speaks to a server of its own process",
}
# What a layer may use from outside; the standard library is free to all.
THIRD_PARTY = {
    "": set(),
    "text": set(),
    "patterns": set(),
    "tokens": {"msgspec"},
    "limits": {"msgspec"},
    "metrics": {"msgspec"},
    "logs": {"msgspec"},
    "protocol": {"msgspec"},
    "server": {"msgspec", "jsonschema_rs"},
    "client": {"msgspec", "aiohttp", "websockets", "multidict", "yarl"},
    "transports": {"msgspec", "uvicorn"},
    "audit": {"msgspec", "jsonschema_rs"},
    "schemas": {"msgspec", "jsonschema_rs"},
    "store": {"msgspec", "valkey"},
    "repairs": {"msgspec"},
    "bridge": {"msgspec"},
    "tracing": {"msgspec", "opentelemetry"},
    "agent": {"msgspec", "aiohttp"},
    "connect": {"msgspec"},
    "console": {"msgspec"},
}
# The one file that reads types of a library which need not be installed.
OPTIONAL = {"server/kinds/pydantic_types.py": {"pydantic", "pydantic_core"}}
STDLIB_NOT_FOR_THE_PURE = {"asyncio", "time", "os", "socket", "threading", "subprocess", "random", "secrets"}


def rank(part: str) -> int:
    return next(at for at, layer in enumerate(LAYERS) if part in layer)


def part_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module a file imports, absolute, with its line."""
    here = [PACKAGE, *path.relative_to(ROOT).with_suffix("").parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = here[: -node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from .. import text` names parts, not members.
            for alias in node.names if module == PACKAGE else []:
                yield node.lineno, f"{module}.{alias.name}"
            if module != PACKAGE:
                yield node.lineno, module


FILES = sorted(ROOT.rglob("*.py"))


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def own_part(module: str) -> str | None:
    """The part of ours that a module belongs to; None for a stranger's."""
    first, _, rest = module.partition(".")
    if first != PACKAGE:
        return None
    part = rest.partition(".")[0]
    return part if any(part in layer for layer in LAYERS) else ""


def test_arrows_point_down() -> None:
    wrong = [
        f"{named(path)}:{line} imports {module}"
        for path in FILES
        for line, module in imports(path)
        if not _may_import(part_of(path), own_part(module))
    ]
    assert wrong == []


def _may_import(part: str, other: str | None) -> bool:
    return other is None or other == part or (part, other) in ALLOWED or rank(other) < rank(part)


def test_no_exception_outlives_its_reason() -> None:
    drawn = {(part_of(path), own_part(module)) for path in FILES for _, module in imports(path)}
    assert set(ALLOWED) <= drawn


def test_every_part_has_its_place() -> None:
    parts = {part_of(path) for path in FILES}
    assert parts <= set().union(*LAYERS)


def test_strangers_stay_where_they_belong() -> None:
    wrong = [
        f"{named(path)}:{line} imports {module}"
        for path in FILES
        if part_of(path) in THIRD_PARTY
        for line, module in imports(path)
        if (first := module.partition(".")[0]) != PACKAGE
        and first not in sys.stdlib_module_names
        and first not in THIRD_PARTY[part_of(path)] | OPTIONAL.get(named(path), set())
    ]
    assert wrong == []


@pytest.mark.parametrize("path", [p for p in FILES if part_of(p) == "protocol"], ids=named)
def test_the_protocol_is_pure(path: Path) -> None:
    found = {module.partition(".")[0] for _, module in imports(path)}
    assert not found & STDLIB_NOT_FOR_THE_PURE
    tree = ast.parse(path.read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Await | ast.AsyncFunctionDef)]


def test_the_reader_of_imports_sees_late_and_relative_ones() -> None:
    path = ROOT / "transports" / "sessions.py"
    found = {module for _, module in imports(path)}
    assert f"{PACKAGE}.transports.streams" in found  # inside a function
    assert f"{PACKAGE}.protocol" in found
