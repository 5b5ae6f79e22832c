"""`call` for any server: arguments typed by the tool's own schema, the result as it is after repair."""

from collections.abc import Sequence
from typing import Any

from msgspec import Raw

from ....repairs import values
from ....text import shortened, visible
from ...input import typed_arguments
from ...input.forms import Form
from ...output import terminal, view
from ...output.any_server import results, schemas, written
from .. import failures
from ..pages import Gathered, ending, gathered
from ..rows_shown import show_rows
from .asking import Asker, good, listed, members_of, use
from .chosen import OtherServer
from .listing import named
from .refusals import ERROR_KEY, OPEN_CODES, unanswered

# A failure that is longer is cut: it is a line for a person.
_ERROR_CHARS = 4000


def call(
    where: OtherServer,
    tool: str,
    words: Sequence[str],
    whole: str | None,
    form: Form,
) -> int:
    """Raises: NoSuchTool, WrongUsage, Bad, Undetermined."""
    # What is wrong with the words themselves is said before a server is started for them.
    typed_arguments.read(words, whole, ())

    async def work(asker: Asker) -> Gathered:
        known = named(await listed(where, asker, "tools/list", "tools"), tool)
        given = typed_arguments.read(words, whole, _texts(known))

        async def ask(arguments: Any) -> Raw:
            return good(where, await asker.ask("tools/call", {"name": tool, "arguments": arguments}))

        return await gathered(ask, given) if form.all_pages else Gathered(await ask(given))

    found = use(where, work)
    return _show(found.result, form) or ending(found)


def _texts(tool: dict[str, Any]) -> set[str]:
    """The arguments that take only text."""
    schema = schemas.schema_of(tool, "inputSchema")
    return {name for name, part in schema.properties.items() if schemas.takes_only_text(schema.inner(part))}


def _show(raw: Raw, form: Form) -> int:
    if form.as_raw:
        written.write_json(raw)
        return _exit_code(members_of(raw))
    result = members_of(raw)
    code = _exit_code(result)
    if code == failures.UNDETERMINED:
        raise unanswered(results.text_of(result))
    if code == failures.BAD:
        raise failures.Bad(shortened(visible(results.text_of(result)), _ERROR_CHARS))
    if form.as_csv:
        show_rows(result, form)
    elif not {"content", "structuredContent"} & set(result):
        written.write_json(raw)  # without repair, a result may be anything
    elif form.as_json:
        written.write_json(values.write(result.get("structuredContent", result.get("content"))))
    else:
        terminal.write(results.shown(result, view.paper(), view.palette()))
    return failures.GOOD


def _exit_code(result: dict[str, Any]) -> int:
    if result.get("isError") is not True:
        return failures.GOOD
    meta = result.get("_meta")
    about = meta.get(ERROR_KEY) if isinstance(meta, dict) else None
    code = about.get("code") if isinstance(about, dict) else None
    return failures.UNDETERMINED if isinstance(code, str) and code in OPEN_CODES else failures.BAD
