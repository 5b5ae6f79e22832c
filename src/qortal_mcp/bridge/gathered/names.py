"""Under which names the tools, prompts and resources of several servers are offered, and back. Pure.

A tool `t` of the server `max` is `max__t`, so is a prompt; a resource `file:///a` is `max+file:///a`. No name of a server
has `__` in it or `_` at its end, and no label has a `+`: the first of these ends it, and nothing after it is touched.
"""

import difflib
import re
from collections.abc import Iterable
from hashlib import sha256

BETWEEN = "__"
# What model providers and clients accept as the name of a tool.
LONGEST_TOOL_NAME = 64
# More names, or longer ones, are not compared with one that does not exist.
_COMPARED = 500
_COMPARED_CHARS = 200
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_SEVERAL = re.compile(r"__+")
_LONGEST_SERVER_NAME = 24
_DIGEST_CHARS = 8
_SHORTENED = re.compile(rf".*_[0-9a-f]{{{_DIGEST_CHARS}}}", re.DOTALL)


def server_names(given: Iterable[str]) -> dict[str, str]:
    """A name for each that was given: of accepted characters, short, and no two with the same label."""
    given = list(dict.fromkeys(given))
    # Who has a good name keeps it, whoever comes before.
    found: dict[str, str] = {}
    taken: set[str] = set()
    for one in sorted(given, key=lambda name: _cleaned(name) != name):
        name = _free(_cleaned(one), taken)
        taken.add(label_of(name))
        found[one] = name
    return {one: found[one] for one in given}


def _cleaned(name: str) -> str:
    reduced = _SEVERAL.sub("_", _REFUSED.sub("_", name[: 10 * _LONGEST_SERVER_NAME])).strip("_-")
    return reduced[:_LONGEST_SERVER_NAME].strip("_-") or "server"


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while label_of(free) in taken:
        number += 1
        free = f"{name[: _LONGEST_SERVER_NAME - len(str(number))].rstrip('_-')}{number}"
    return free


def label_of(server: str) -> str:
    """What stands before the `+` of an address: a scheme has no `_`, begins with a letter, and its case does not count."""
    label = server.lower().replace("_", "-")
    return label if label[:1].isalpha() else f"s{label}"


def offered(server: str, name: str) -> str:
    return f"{server}{BETWEEN}{name}"


def parts_of(name: str) -> tuple[str, str] | None:
    """The server and its own name of a prompt or tool; None if no server stands before it."""
    server, between, own = name.partition(BETWEEN)
    return (server, own) if server and between else None


def offered_tools(server: str, names: Iterable[str]) -> dict[str, str]:
    """The offered name of each tool of a server. One that is too long is cut and ends with a digest of the whole."""
    whole = {name: offered(server, name) for name in names}
    taken = {name for name in whole.values() if len(name) <= LONGEST_TOOL_NAME}
    for own in sorted(own for own, name in whole.items() if len(name) > LONGEST_TOOL_NAME):
        whole[own] = _shortened(whole[own], taken)
        taken.add(whole[own])
    return whole


def _shortened(name: str, taken: set[str]) -> str:
    number = 0
    while True:
        seed = f"{name}\0{number}" if number else name
        digest = sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
        short = f"{name[: LONGEST_TOOL_NAME - _DIGEST_CHARS - 1]}_{digest}"
        if short not in taken:
            return short
        number += 1


def all_names(server: str, own: str) -> set[str]:
    """Every name under which a tool can be meant: whole, and as it is offered if that is too long."""
    whole = offered(server, own)
    return {whole} if len(whole) <= LONGEST_TOOL_NAME else {whole, _shortened(whole, set())}


def may_be_shortened(name: str) -> bool:
    """Whether only the list of its server can tell what an offered name stands for."""
    return len(name) == LONGEST_TOOL_NAME and _SHORTENED.fullmatch(name) is not None


def near(name: str, names: list[str]) -> list[str]:
    """Names like this one: those that other servers offer under it first."""
    own = (parts_of(name) or ("", name))[1]
    same = [one for one in names if (parts_of(one) or ("", ""))[1] == own]
    if same or len(name) > _COMPARED_CHARS:
        return same
    return difflib.get_close_matches(name, names[:_COMPARED], cutoff=0.75)


def offered_uri(label: str, uri: str) -> str:
    return f"{label}+{uri}"


def parts_of_uri(uri: str) -> tuple[str, str] | None:
    """The label of the server and its own address; None if there is no label. Programs may write a scheme in capitals."""
    label, plus, own = uri.partition("+")
    return (label.lower(), own) if label and plus else None
