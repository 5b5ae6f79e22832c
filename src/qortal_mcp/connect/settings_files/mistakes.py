"""Why the text of a settings file is left alone."""


class NotUnderstood(Exception):
    """The text is not valid, or not of the kind that can be changed safely: the place and the reason, without a full stop."""


class OtherForm(NotUnderstood):
    """The text is valid, but nothing can be put beside what is there. `first` is what a person has to do before; a sentence."""

    def __init__(self, reason: str, first: str) -> None:
        super().__init__(reason)
        self.first = first


def at(text: str, offset: int) -> str:
    """A place as people count: lines and columns begin with 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return f"line {line}, column {column}"
