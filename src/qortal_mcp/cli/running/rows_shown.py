"""`call --csv`: the rows of a result on standard output."""

from typing import Any

from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...text import visible
from ..input.forms import Form
from ..output.tabular import spreadsheet
from ..output.tabular.rows import NoRows
from . import failures


def show_rows(result: dict[str, Any], form: Form) -> None:
    """Raises: Bad, NoSuchTool."""
    try:
        spreadsheet.write(_answer(result), form.list_name, is_all=form.all_pages)
    except NoRows as exc:
        # A name that is not there is a mistake of the caller; an answer without rows is not.
        kind = failures.Bad if form.list_name is None else failures.NoSuchTool
        raise kind(visible(str(exc))) from None
    except spreadsheet.TooMuch as exc:
        raise failures.Bad(str(exc)) from None


def _answer(result: dict[str, Any]) -> Any:
    """The structured answer; if there is none, a text that is JSON, as many servers send it. Raises: NoRows."""
    if "structuredContent" in result:
        return result["structuredContent"]
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    if len(texts) == 1 and isinstance(texts[0], str):
        try:
            return values.parsed(texts[0])
        except UNREADABLE:
            pass
    raise NoRows("The answer is text, not rows; --json shows it")
