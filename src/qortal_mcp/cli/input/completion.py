"""Shell completion: tools, their arguments, toolsets, clients, codes of findings. Loaded only when a shell asks, because a person is waiting."""

import click


def tools(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """Every tool, whether or not its toolset is on. Another server is not started for this."""
    if ctx.params.get("server"):
        return []
    from ...qortal.tools import TOOLSETS

    names = (name for toolset in TOOLSETS.values() for name in toolset.tools)
    return [name for name in names if name.startswith(typed)]


def arguments(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """`key=` for each argument of the tool that is not given yet; its choices after the sign."""
    if ctx.params.get("server"):
        return []
    from .toolsets import arguments_of

    schemas = arguments_of(ctx.params.get("tool") or "")
    name, equals, value = typed.partition("=")
    if equals:
        schema = schemas.get(name, {})
        words = schema.get("enum", ["true", "false"] if schema.get("type") == "boolean" else [])
        return [f"{name}={word}" for word in words if word.startswith(value)]
    words = list(ctx.params.get("arguments") or ())
    if words[-1:] == ["="]:  # bash splits a word at this sign
        return (
            [each.partition("=")[2] for each in arguments(ctx, param, f"{words[-2]}={typed}")]
            if words[1:]
            else []
        )
    given = {word.partition("=")[0] for word in words}
    return [f"{key}=" for key in schemas if key.startswith(typed) and key not in given]


def prompts(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """Our own prompts."""
    if ctx.params.get("server"):
        return []
    from ...qortal.prompts import PROMPTS

    return [prompt.name for prompt in PROMPTS if prompt.name.startswith(typed)]


def codes(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """What `audit --explain` and `audit --clients` know. Only the former knows what no check has."""
    from ...audit.checks import BY_CODE
    from ...audit.reports.explanation import CODES

    known = CODES if param.name == "explain" else BY_CODE
    return [code for code in ("all", *known) if code.startswith(typed)]


def clients(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """What `install` can set up."""
    from ...connect.clients import CLIENTS

    return [client.name for client in CLIENTS if client.name.startswith(typed)]


def toolsets(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """The last item of the list being typed, with its sign."""
    from ...qortal.tools import TOOLSETS

    before, comma, word = typed.rpartition(",")
    sign = word[:1] if word[:1] in ("+", "-") else ""
    names = [name for name in ("all", *TOOLSETS) if name.startswith(word[len(sign) :])]
    return [f"{before}{comma}{sign}{name}" for name in names]
