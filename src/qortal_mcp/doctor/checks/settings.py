"""What can be wrong with options and variables."""

from collections.abc import Iterator

from ..check import Finding, check, good, problem, warning
from ..looks.settings import SettingsFacts


@check("settings", "options", SettingsFacts, "Would commands accept every variable and option?")
def options(facts: SettingsFacts) -> Iterator[Finding]:
    for sentence in facts.refused:
        yield problem(
            sentence,
            "Correct or remove it: commands refuse to start with it. qortal-mcp serve --help lists the settings.",
        )
    if not facts.refused:
        yield good("every option and every QORTAL_MCP_ variable is valid")


@check(
    "earlier-server",
    "old variables",
    SettingsFacts,
    "Are variables of an earlier server set, which are ignored?",
)
def earlier_server(facts: SettingsFacts) -> Iterator[Finding]:
    for name, instead in facts.old.items():
        yield warning(f"{name} belongs to an earlier server and is ignored.", f"Remove it: {instead}.")


@check("tools", "tools", SettingsFacts, "How many tools would clients be offered?")
def tools(facts: SettingsFacts) -> Iterator[Finding]:
    if facts.tools:
        yield good(f"{facts.tools} offered to clients")
