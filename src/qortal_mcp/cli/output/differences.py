"""What is different between two answers, member by member. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET, Struct

from . import terminal, values

# A longer value hides the others on the line.
_VALUE_COLUMNS = 80
_LIST = "[]"
_JOINED = "; "


class Difference(Struct, frozen=True, omit_defaults=True):
    """A member, `a[key].b` for one of a row, `a[]` for one entry of a list; `old` or `new` is absent where it was or is."""

    member: str
    old: Any = UNSET
    new: Any = UNSET


def differences(old: Mapping[str, Any], new: Mapping[str, Any], within: str = "") -> Iterator[Difference]:
    """In the order of the members, those that are gone last."""
    for name in dict.fromkeys((*new, *old)):
        yield from _of_values(f"{within}{name}", old.get(name, UNSET), new.get(name, UNSET))


def _of_values(member: str, old: Any, new: Any) -> Iterator[Difference]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from differences(old, new, f"{member}.")
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(member, old, new)
    else:
        yield Difference(member, old, new)


def _of_lists(member: str, old: list[Any], new: list[Any]) -> Iterator[Difference]:
    everything = [*old, *new]
    if all(isinstance(item, str | int) for item in everything) and Counter(old) != Counter(new):
        gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
        yield from (Difference(f"{member}{_LIST}", old=item) for item in gone.elements())
        yield from (Difference(f"{member}{_LIST}", new=item) for item in come.elements())
        return
    key = _key(old, new) if all(isinstance(item, Mapping) for item in everything) else None
    if key is None:
        yield Difference(member, old, new)
        return
    before, after = ({row[key]: row for row in rows} for rows in (old, new))
    for which in dict.fromkeys((*after, *before)):
        if which not in before:
            yield Difference(f"{member}{_LIST}", new=after[which])
        elif which not in after:
            yield Difference(f"{member}{_LIST}", old=before[which])
        else:
            yield from differences(before[which], after[which], f"{member}[{which}].")


def _key(*lists: list[Mapping[str, Any]]) -> str | None:
    """The member that tells the rows of lists apart: a text if possible."""
    rows = [row for each in lists for row in each]
    for kind in (str, int):
        for name in rows[0] if rows else ():
            if all(isinstance(row.get(name), kind) for row in rows) and all(
                len({row[name] for row in each}) == len(each) for each in lists
            ):
                return name
    return None


def change(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What is different, on one line."""
    found = differences(values.without_echoes(old), values.without_echoes(new))
    return _JOINED.join(_in_words(each) for each in found)


def _in_words(difference: Difference) -> str:
    member, old, new = difference.member, difference.old, difference.new
    if member.endswith(_LIST):
        name = member.removesuffix(_LIST)
        sign, value = ("−", old) if new is UNSET else ("+", new)
        return f"{_shown(name)} {sign} {_brief_value(name, value)}"
    name = member.rpartition(".")[2]
    return f"{_shown(member)} {_brief_value(name, old)} → {_brief_value(name, new)}"


def _brief_value(name: str, value: Any) -> str:
    """One value as part of a line, with nothing hidden in it."""
    if value is UNSET:
        return values.NOTHING
    if isinstance(value, list):
        return f"({len(value)})"
    if isinstance(value, Mapping):
        return _shown(" ".join(values.shown(name, each) for each in value.values() if _is_flat(each)))
    return _shown(values.shown(name, value))


def _is_flat(value: Any) -> bool:
    return not isinstance(value, Mapping | list) and value is not None


def _shown(text: str) -> str:
    return terminal.cut(terminal.one_line(text), _VALUE_COLUMNS)
