"""The recipes of AGENTS.md, followed as they are written on a copy of the project. Each test is named after its recipe."""

import difflib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docgen.generated import ROOT
from tests.cli.running import ALICE, Ended, environment

PACKAGE = "src/qortal_mcp/"
# What the generator reads and writes; captures come with the tests.
COPIED = ("src", "bench", "docgen", "docs", "release", "tests")
RECIPES = dict(
    re.findall(r"^### (How to add .*)\n((?:.+\n|\n(?!#))*)", (ROOT / "AGENTS.md").read_text(), re.MULTILINE)
)
# Of a tool of twenty lines, with everything that is generated from it.
MOST_LINES = 80
# All documents take a quarter of a minute, and several times that on a busy machine.
_SECONDS = 180.0


class Copy:
    """The project in a folder of its own, where one recipe is followed."""

    def __init__(self, root: Path, recipe: str) -> None:
        self.root = root
        self._named = re.findall(r"`([a-z_./]+)`", RECIPES[recipe])
        # Compiled files are copied too: most of them stay right, and compiling takes longer than the rest of a test.
        # Others may be writing some at this moment, under names that will be gone.
        for name in COPIED:
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.pyc.*"))
        for file in (*ROOT.glob("*.md"), *ROOT.glob("*.json"), ROOT / "pyproject.toml"):
            shutil.copy(file, root)

    def append(self, path: str, text: str) -> None:
        file = self._file(path)
        file.write_text(file.read_text() + text)

    def insert(self, path: str, before: str, text: str) -> None:
        file = self._file(path)
        head, mark, tail = file.read_text().partition(before)
        assert mark, f"{path} has no {before!r}"
        file.write_text(head + text + mark + tail)

    def _file(self, path: str) -> Path:
        """A file that the recipe names, or that is in a folder it names."""
        assert any(path.removeprefix(PACKAGE).startswith(named) for named in self._named), (
            f"the recipe does not name {path}"
        )
        return self.root / path

    def write_documents(self) -> None:
        """What `scripts/fix` does after formatting."""
        done = self.python("-m", "docgen")
        assert done.code == 0, done.err

    def command(self, *words: str, **variables: str) -> Ended:
        return self.python("-m", "qortal_mcp", *words, **variables)

    def python(self, *words: str, **variables: str) -> Ended:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env=_unmeasured(environment({"PYTHONPATH": str(self.root / "src"), **variables})),
            capture_output=True,
            timeout=_SECONDS,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def changed(self) -> dict[str, list[str]]:
        """The lines that a reviewer sees, by file."""
        found = {}
        for folder, _, names in os.walk(self.root):
            for file in (Path(folder, name) for name in names if not name.endswith(".pyc")):
                path = file.relative_to(self.root).as_posix()
                if (now := file.read_bytes()) != (before := (ROOT / path).read_bytes()):
                    diff = difflib.unified_diff(
                        before.decode().splitlines(), now.decode().splitlines(), n=0, lineterm=""
                    )
                    found[path] = [line for line in list(diff)[2:] if line[0] in "+-"]
        return found


def _unmeasured(environ: dict[str, str]) -> dict[str, str]:
    """Without what makes a child count its lines: those of a copy are not ours."""
    return {name: value for name, value in environ.items() if not name.startswith("COV")}


@pytest.fixture
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Copy:
    recipe = request.function.__name__.removeprefix("test_").replace("_", " ").capitalize()
    return Copy(tmp_path, recipe)


def test_each_recipe_is_followed_here() -> None:
    followed = [name for name in globals() if name.startswith("test_how_to_add_")]
    assert [f"test_{recipe.lower().replace(' ', '_')}" for recipe in RECIPES] == followed


TOOL = '''

class FounderQuestion(Struct, frozen=True, forbid_unknown_fields=True):
    address: Account


class Founder(Answer):
    address: str
    isFounder: bool
    level: Annotated[int, Meta(description="0 to 10.")]


@tool("Founder")
async def get_founder(args: FounderQuestion, node: Node) -> Founder:
    """Whether an account is a founder of the chain, and its level."""
    reading = node.reading()
    account = await reading.get(ACCOUNT, address=args.address)
    is_founder = bool(account.flags & _FOUNDER)
    return Founder(args.address, is_founder, account.level, asOf=reading.as_of, notes=reading.notes())
'''


def test_how_to_add_a_tool(copy: Copy) -> None:
    copy.append(f"{PACKAGE}qortal/tools/accounts/minting.py", TOOL)
    copy.insert(f"{PACKAGE}qortal/tools/__init__.py", '"list_reward_shares")', '"get_founder", ')
    copy.insert(
        "docgen/examples.py", '    "list_reward_shares"', f'    "get_founder": {{"address": "{ALICE}"}},\n'
    )
    copy.write_documents()

    called = copy.command("call", "get_founder", f"address={ALICE}", "--sample", "--json")
    assert called.json.items() >= {"address": ALICE, "isFounder": True, "level": 4}.items()
    listed = {tool["name"]: tool for tool in copy.command("tools", "--json").json["tools"]}
    assert listed["get_founder"]["inputSchema"]["required"] == ["address"]
    changed = copy.changed()
    assert set(changed) == {
        f"{PACKAGE}qortal/tools/accounts/minting.py",
        f"{PACKAGE}qortal/tools/__init__.py",
        f"{PACKAGE}qortal/tools/definitions.json",
        "docgen/examples.py",
        "docs/tools.md",
        "mcp-manifest.json",
        "README.md",
    }
    assert sum(map(len, changed.values())) < MOST_LINES


REPLY = """

class Founder(Reply):
    address: Text
    level: Whole
"""
ENDPOINT = """FOUNDERS = Endpoint(
    "/addresses/founders",
    json_of(list[Founder]),
    HOURS,
    returns="The founders of the chain, all of them.",
)

"""
RULE = """def founders(chain: Chain, parameters: Parameters) -> RawReply:
    rows = [row for row in chain["accounts"].values() if row["flags"] & 1]
    return as_json([{"address": row["address"], "level": row["level"]} for row in rows])


"""


def test_how_to_add_an_endpoint(copy: Copy) -> None:
    copy.append(f"{PACKAGE}qortal/replies/addresses.py", REPLY)
    family = f"{PACKAGE}qortal/endpoints/addresses.py"
    copy.insert(family, "    OnlineAccount,\n", "    Founder,\n")
    copy.insert(family, "FAMILY:", ENDPOINT)
    copy.insert(family, "    REWARD_SHARES,\n", "    FOUNDERS,\n")
    rules = f"{PACKAGE}qortal/sample/answers/addresses.py"
    copy.insert(rules, "ROUTES:", RULE)
    copy.insert(rules, '    "/addresses/rewardshares":', '    "/addresses/founders": founders,\n')
    copy.write_documents()

    called = copy.command("call", "read_core", "endpoint=/addresses/founders", "--sample", "--json")
    assert called.json["rows"] == [{"address": ALICE, "level": 4}]
    changed = copy.changed()
    assert changed["docs/endpoints.md"] == [
        "+| `/addresses/founders` |  | The founders of the chain, all of them. | 3600 s | 3.0.0 |"
    ]
    assert len(changed) == 4


CHECK = '''@check(
    "tool-params-member",
    ADVICE,
    Tool,
    expected="The arguments are described in inputSchema, where clients look for them.",
    fix="Leave out params.",
)
def tool_params_member(tool: Tool) -> Iterator[Defect]:
    """A tool with a member params."""
    if _name(tool) is not None and "params" in tool.tool:
        yield Defect(path="params", evidence=tool.tool["params"])


'''


def test_how_to_add_a_check_to_audit(copy: Copy) -> None:
    checks = f"{PACKAGE}audit/checks/offers/tools.py"
    copy.insert(checks, "CHECKS:", CHECK)
    copy.insert(checks, "    tool_annotation_not_boolean,\n", "    tool_params_member,\n")
    copy.write_documents()

    explained = copy.command("audit", "--explain", "tool-params-member")
    assert explained.out.startswith("tool-params-member  A tool with a member params\n")
    judged = copy.command("audit", "tests/audit/seeds/incumbent-now.jsonl", "--json")
    found = [one for one in judged.json["findings"] if one["code"] == "tool-params-member"]
    assert "validate_address" in str(found)
    changed = copy.changed()
    assert changed["docs/audit.md"] == [
        "+| `tool-params-member` | advice | A tool with a member params | not measured |"
    ]
    assert len(changed) == 2


REPAIR = '''@repair("tool-category-member", ALL, ToolEntry, makes="The member is left out.")
def tool_category_member(entry: ToolEntry) -> Iterator[Change]:
    """A member category, which no client reads."""
    if isinstance(entry.value, dict) and "category" in entry.value:
        yield Change(path="category", before=entry.value.pop("category"))


'''
REPAIRED = """
from msgspec import Raw
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.repairs.subjects import Asked

tool = b'{"tools": [{"name": "t", "description": "d", "inputSchema": {"type": "object"}, "category": "x"}]}'
page = Repairs("all").page(Raw(tool), "tools", Asked(revision="2025-06-18"))
print([(change.code, change.path, change.before) for change in page.changes])
"""


def test_how_to_add_a_repair(copy: Copy) -> None:
    repairs = f"{PACKAGE}repairs/tools/entry.py"
    copy.insert(repairs, "ENTRY:", REPAIR)
    copy.insert(repairs, "    description_missing,\n", "    tool_category_member,\n")
    copy.write_documents()

    seen = copy.python("-c", REPAIRED)
    assert seen.out == "[('tool-category-member', 'tools[0].category', 'x')]\n"
    assert copy.command("bridge", "--without-repair", "tool-category", "http://127.0.0.1:9").code == 2
    changed = copy.changed()
    assert changed["docs/bridge.md"] == [
        "+| `tool-category-member` | all | A member category, which no client reads | The member is left out. | not measured |"
    ]
    assert len(changed) == 2


SETTING = """    log_colour: Annotated[
        Literal["auto", "never"], Meta(description="Whether lines on a terminal are coloured.")
    ] = "auto"
"""
READ = "import os; from qortal_mcp.settings import *; print(read(LogOptions, {}, os.environ).log_colour)"


def test_how_to_add_a_setting(copy: Copy) -> None:
    copy.insert(f"{PACKAGE}settings/serving.py", "\n\ndef seconds", SETTING)
    copy.write_documents()

    shown = " ".join(copy.command("serve", "--help").out.split())
    assert "--log-colour auto|never Whether lines on a terminal are coloured." in shown
    assert copy.python("-c", READ, QORTAL_MCP_LOG_COLOUR="never").out == "never\n"
    refused = copy.command("call", "get_node_status", "--sample", QORTAL_MCP_LOG_COLOUR="blue")
    assert (refused.code, refused.err) == (
        2,
        "qortal-mcp: QORTAL_MCP_LOG_COLOUR must be one of auto, never.\n",
    )
    changed = copy.changed()
    assert changed["docs/settings.md"] == [
        r"+| `--log-colour auto\|never` | `QORTAL_MCP_LOG_COLOUR` | `auto` | Whether lines on a terminal are coloured. |"
    ]
    assert len(changed) == 2
