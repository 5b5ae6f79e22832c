"""Which toolset a tool belongs to, and how to switch one on that is off."""

from ..qortal.aliases import TOOL_ALIASES, TOOL_PRESETS
from ..qortal.tools import TOOLSETS


def tool_named(name: str) -> str:
    """The tool that a name stands for: itself, or the one that an old name means."""
    if name in TOOL_PRESETS:
        return TOOL_PRESETS[name][0]
    return TOOL_ALIASES.get(name, name)


def toolset_of(tool: str) -> str | None:
    return next((name for name, toolset in TOOLSETS.items() if tool in toolset.tools), None)


def switching_on(toolset: str, chosen: str) -> str:
    """The option that adds a toolset to those that were chosen."""
    words = [] if chosen.strip() in ("", "default") else [chosen.strip()]
    is_list = bool(words) and words[0][0] not in "+-"
    return f"--toolsets {','.join([*words, toolset if is_list else f'+{toolset}'])}"
