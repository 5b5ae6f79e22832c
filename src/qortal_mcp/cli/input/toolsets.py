"""Which toolset a tool belongs to, and how to turn one on."""

from collections.abc import Mapping
from typing import Any

from ...qortal.aliases import ARGUMENT_SYNONYMS, TOOL_ALIASES, TOOL_PRESETS
from ...qortal.tools import TOOLSETS, definitions


def tool_named(name: str) -> str:
    """The tool with this name, or the one that an old name stands for."""
    if name in TOOL_PRESETS:
        return TOOL_PRESETS[name][0]
    return TOOL_ALIASES.get(name, name)


def arguments_of(tool: str) -> Mapping[str, Mapping[str, Any]]:
    """The schemas of a tool's arguments by name; empty if there is no such tool."""
    found: Mapping[str, Mapping[str, Any]] = _schema_of(tool).get("properties", {})
    return found


def required_of(tool: str) -> list[str]:
    """The arguments that a tool cannot do without."""
    return list(_schema_of(tool).get("required", ()))


def _schema_of(tool: str) -> Mapping[str, Any]:
    toolset = toolset_of(tool_named(tool))
    tools = definitions((toolset,)) if toolset is not None else []
    return next((one["inputSchema"] for one in tools if one["name"] == tool_named(tool)), {})


def text_arguments(tool: str) -> set[str]:
    """The arguments of a tool that only take text, by their current and old names."""
    texts = {name for name, schema in arguments_of(tool).items() if schema.get("type") == "string"}
    old = {**ARGUMENT_SYNONYMS.get(tool_named(tool), {}), **ARGUMENT_SYNONYMS.get(tool, {})}
    return texts | {written for written, name in old.items() if name in texts}


def toolset_of(tool: str) -> str | None:
    return next((name for name, toolset in TOOLSETS.items() if tool in toolset.tools), None)


def switching_on(toolset: str, chosen: str) -> str:
    """The option that adds a toolset to those chosen."""
    words = [] if chosen.strip() in ("", "default") else [chosen.strip()]
    is_list = bool(words) and words[0][0] not in "+-"
    return f"--toolsets {','.join([*words, toolset if is_list else f'+{toolset}'])}"
