"""Values made from the table of shapes: good ones, and the same with one fault each."""

from collections.abc import Iterator
from typing import Any

from tests.matrix.shapes import AllOf, Constant, ListOf, Named, Object, OneOf, Plain, Shape, shape_of

# For each kind of value one that is, and one that is not.
PLAIN: dict[str, tuple[Any, Any]] = {
    "object": ({"anything": None}, []),
    "string": ("text", 1),
    "boolean": (True, 1),
    "integer": (1, 1.5),
    "number": (0.5, "1"),
    "uri": ("made-up://one", "not a uri"),
    "uri-template": ("made-up://{one}", "made-up://{one"),
    "base64": ("YQ==", "*"),
}


def example(revision: str, shape: Shape | None) -> Any:
    """A value of this shape, with every member that it may have."""
    match shape:
        case Plain("any"):
            return {}
        case Plain(name):
            return PLAIN[name][0]
        case Constant(value):
            return value
        case Named(name):
            return example(revision, shape_of(revision, name))
        case ListOf(item):
            return [example(revision, item)]
        case Object(members, others):
            found = {member.name: example(revision, member.shape) for member in members}
            return found if others is None else {**found, "more": example(revision, others)}
        case OneOf():
            return example(revision, first_of(shape))
        case AllOf(parts):
            # The constants of one part are plain values in another.
            examples = sorted((example(revision, part) for part in parts), key=len, reverse=True)
            return {name: value for each in examples for name, value in each.items()}
        case _:
            raise AssertionError(shape)


def first_of(shape: OneOf) -> Shape:
    """The option that examples are made of: a plain one where there is one, since JSON in JSON has no end."""
    return min(shape.options, key=lambda each: (not isinstance(each, Plain), repr(each)))


def faulty(revision: str, shape: Shape | None, value: Any) -> Iterator[tuple[str, Any]]:
    """The value with one fault each: a member gone, a value of another kind, one item too many."""
    match shape:
        case Plain(name, low, high):
            if name != "any":
                yield f"not {name}", PLAIN[name][1]
            if low is not None:
                yield "too low", low - 1
            if high is not None:
                yield "too high", high + 1
        case Constant(constant):
            yield "another value", f"not {constant}"
        case Named(name):
            yield from faulty(revision, shape_of(revision, name), value)
        case ListOf(item, at_most):
            yield "not a list", {}
            for what, one in faulty(revision, item, value[0]):
                yield f"[0] {what}", [one]
            if at_most is not None:
                yield "too long", value * (at_most + 1)
        case Object(members, others):
            yield "not an object", []
            for member in members:
                rest = {name: each for name, each in value.items() if name != member.name}
                if member.is_required:
                    yield f"{member.name} gone", rest
                for what, one in faulty(revision, member.shape, value[member.name]):
                    yield f"{member.name} {what}", {**rest, member.name: one}
            for what, one in faulty(revision, others, value["more"]) if others is not None else ():
                yield f"more {what}", {**value, "more": one}
        case OneOf():
            for what, one in faulty(revision, first_of(shape), value):
                # A text is not a number, but may be an id all the same.
                yield what, (None if isinstance(first_of(shape), Plain) else one)
        case AllOf(parts):
            for part in parts:
                yield from faulty(revision, part, value)
