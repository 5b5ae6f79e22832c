"""Completion scripts of shells: click's, but no space follows `key=`, since its value does."""

from click.shell_completion import BashComplete, ZshComplete, add_completion_class

_ADDED_BY_BASH = "            COMPREPLY+=($value)\n"
_ADDED_BY_ZSH = "        compadd -U -V unsorted -a completions\n"


class Bash(BashComplete):
    """Bash adds a space to the only completion, unless it is told not to."""

    source_template = BashComplete.source_template.replace(
        _ADDED_BY_BASH, _ADDED_BY_BASH + "            if [[ $value == *= ]]; then compopt -o nospace; fi\n"
    )


class Zsh(ZshComplete):
    """Zsh adds a suffix to each completion: here an empty one to some."""

    source_template = ZshComplete.source_template.replace(
        _ADDED_BY_ZSH,
        "        local -a keys words\n"
        "        keys=(${(M)completions:#*=})\n"
        "        words=(${completions:#*=})\n"
        "        compadd -U -V unsorted -S '' -a keys\n"
        "        compadd -U -V unsorted -a words\n",
    )


def register() -> None:
    """Use these instead of click's. Fish adds no space after this sign by itself."""
    add_completion_class(Bash)
    add_completion_class(Zsh)
