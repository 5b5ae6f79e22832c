"""The page names only tools, arguments and members that exist: TypeScript reads its modules with the tools' schemas as types."""

import re
import shutil
from pathlib import Path

import pytest
from tests.console.browser import programs
from tests.console.browser.require import require
from tests.console.formatting import unformatted
from tests.console.typescript import DEFINITIONS, diagnostics

from qortal_mcp.console.files import STATIC

MODULES = sorted(STATIC.rglob("*.js"))
# A call whose tool stands there by its name, or a panel that makes one.
CALL = re.compile(r"(\b(?:call|callPage|offers)\(\s*'|\btool: ')([a-z_]+)'")


@pytest.fixture(autouse=True)
def _compiler() -> None:
    require(programs.no_packages())


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A copy of the page's files, to be changed."""
    return shutil.copytree(STATIC, tmp_path / "static")


def test_every_module_fits_the_schemas_of_the_tools(tmp_path: Path) -> None:
    found = diagnostics(STATIC, tmp_path)
    assert not found, "\n".join(found)


def test_every_module_has_the_form_that_scripts_fix_gives_it() -> None:
    assert unformatted() == []


WRONG = [
    pytest.param("await call('get_nothing', {})", "get_nothing", id="a tool"),
    pytest.param("await call('get_block', {hight: 1})", "hight", id="an argument"),
    pytest.param(
        "await call('get_node_status', {height: 1})", "never", id="an argument of a tool without any"
    ),
    pytest.param("await call('get_block', {height: true})", "boolean", id="the type of an argument"),
    pytest.param("(await call('get_node_status', {})).hight", "hight", id="a member of an answer"),
    pytest.param("(await call('get_node_status', {})).asOf.hight", "hight", id="a member within an answer"),
    pytest.param("(await call('get_node_status', {})).version.length", "null", id="what can be null"),
]


@pytest.mark.parametrize(("expression", "named"), WRONG)
def test_a_view_that_names_what_does_not_exist_is_found(
    static: Path, tmp_path: Path, expression: str, named: str
) -> None:
    wrong = static / "views" / "wrong.js"
    wrong.parent.mkdir(exist_ok=True)
    wrong.write_text(f"import {{ call }} from '../wire.js';\nexport const found = {expression};\n")
    (fault,) = (line for line in diagnostics(static, tmp_path) if "wrong.js" in line)
    assert named in fault


def test_every_call_of_the_page_is_checked(static: Path, tmp_path: Path) -> None:
    named: set[str] = set()
    for module in static.rglob("*.js"):
        lines = module.read_text().splitlines()
        for at, line in enumerate(lines):
            lines[at], number = CALL.subn(r"\1\2_of_nothing'", line)
            if number:
                named.add(f"{module.relative_to(static).as_posix()}({at + 1}")
        module.write_text("\n".join(lines))
    found = {line.partition(",")[0] for line in diagnostics(static, tmp_path)}
    assert len(named) > 30
    assert named <= found


def test_a_page_knows_which_arguments_come_next(static: Path, tmp_path: Path) -> None:
    (static / "paging.js").write_text(
        "import { call } from './wire.js';\n"
        "const { page } = await call('list_completed_trades', {});\n"
        "export const more = page.next && (await call('list_completed_trades', page.next));\n"
        "export const other = page.next && (await call('get_block', page.next));\n"
    )
    faults = [line for line in diagnostics(static, tmp_path) if "paging.js" in line]
    assert len(faults) == 1, faults
    assert "get_block" in faults[0] or "paging.js(4" in faults[0]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_no_module_switches_the_check_off(module: Path) -> None:
    assert not re.search(r"@ts-(ignore|nocheck|expect-error)", module.read_text())


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_every_name_that_looks_like_a_tool_is_one(module: Path) -> None:
    named = set(re.findall(r"'((?:get|list|search|find|read|validate|explain)_[a-z_]+)'", module.read_text()))
    assert named <= set(DEFINITIONS), named - set(DEFINITIONS)
