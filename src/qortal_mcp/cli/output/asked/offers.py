"""What `ask --dry-run` shows: the tools that a model would be offered, and what they weigh."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from .... import tokens
from ....agent.run import ServerSeen
from ....agent.tools.offer import Offer
from ....text import visible


class Weighed(Struct, frozen=True, kw_only=True):
    """A tool as it would be offered, with its weight in tokens."""

    name: str
    server: str
    tokens: int


class Offered(Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything that is sent with each question, with its weight in tokens."""

    tools: tuple[Weighed, ...]
    prompt_tokens: int
    total_tokens: int
    is_estimated: bool
    servers: tuple[ServerSeen, ...]


def weigh(offers: Sequence[Offer], prompt: str, servers: tuple[ServerSeen, ...]) -> Offered:
    counter = tokens.best_counter()
    tools = tuple(
        Weighed(
            name=offer.name,
            server=offer.server,
            tokens=counter.count(msgspec.json.encode(offer.function).decode()),
        )
        for offer in offers
    )
    prompt_tokens = counter.count(prompt)
    return Offered(
        tools=tools,
        prompt_tokens=prompt_tokens,
        total_tokens=prompt_tokens + sum(tool.tokens for tool in tools),
        is_estimated=not counter.is_exact,
        servers=servers,
    )


def table(offered: Offered) -> str:
    about = "~" if offered.is_estimated else ""
    many = len(offered.servers) > 1
    rows = [
        (tool.name + (f"  ({visible(tool.server)})" if many else ""), tool.tokens) for tool in offered.tools
    ]
    rows += [("instructions for the model", offered.prompt_tokens), ("total", offered.total_tokens)]
    names = max(len(name) for name, _ in rows)
    figures = max(len(f"{about}{count:,}") for _, count in rows)
    lines = [f"{name.ljust(names)}  {f'{about}{count:,}'.rjust(figures)}" for name, count in rows]
    lines += [visible(server.problem) for server in offered.servers if server.problem]
    return "\n".join(
        [*lines, f"Tokens are {'estimated' if offered.is_estimated else f'counted as {tokens.ENCODING}'}."]
    )
