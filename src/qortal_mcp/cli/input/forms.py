"""In which form an answer is shown, and how much of it."""

from msgspec import Struct

from ..running.failures import WrongUsage


class Form(Struct, frozen=True, kw_only=True):
    """Readable, unless one of the three others was asked for."""

    as_json: bool = False
    as_csv: bool = False
    as_raw: bool = False
    # Which list the rows of CSV are; None: the main one.
    list_name: str | None = None
    all_pages: bool = False


def check(form: Form) -> None:
    """Raises: WrongUsage."""
    one_form(as_json=form.as_json, as_csv=form.as_csv, as_raw=form.as_raw)
    if form.list_name is not None and not form.as_csv:
        raise WrongUsage("--list belongs to --csv.")
    if form.all_pages and form.as_raw:
        raise WrongUsage(
            "--all-pages cannot be combined with --raw, which is one result; use --json or --csv."
        )


def one_form(*, as_json: bool, as_raw: bool, as_csv: bool = False) -> None:
    """Raises: WrongUsage."""
    flags = {"--json": as_json, "--csv": as_csv, "--raw": as_raw}
    given = [flag for flag, is_given in flags.items() if is_given]
    if len(given) > 1:
        listed = f"{', '.join(given[:-1])} and {given[-1]}"
        raise WrongUsage(f"{listed} cannot be combined; give one of them.")
