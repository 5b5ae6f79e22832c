"""A clause as a sentence, with the names of code spelt as they are."""

# Values of JSON, which are no English words.
_VALUES = ("null", "true", "false")


def sentence(clause: str) -> str:
    """With a capital letter, unless it begins with a name such as isError, and with one full stop."""
    first = clause.split(" ", 1)[0]
    is_name = first in _VALUES or "_" in first or any(letter.isupper() for letter in first[1:])
    begun = clause if is_name else f"{clause[:1].upper()}{clause[1:]}"
    return f"{begun.rstrip('.')}."
