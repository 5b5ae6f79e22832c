"""docs/promises.md: what is promised, read from the markers on the tests that prove it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

_HEAD = """\
# What is promised, and what proves it

Below each sentence stand the tests that prove it; when one of them fails, the promise is broken. The sentences are
`promise` markers on the tests themselves. Where something was asked for in another form, [why.md](why.md) says why.
"""

SUBJECTS = (
    "Handshake",
    "Messages",
    "Tools and their results",
    "Data of the chain",
    "Errors",
    "Read-only and secrets",
    "Text of strangers",
    "Transports",
    "Access",
    "Limits and abuse",
    "Nodes",
    "Old clients",
    "Operations",
    "Command line",
    "Doctor",
    "Library",
    "Audit",
    "Bridge",
    "Setting up clients",
    "Asking a model",
    "Console",
    "Documents",
    "Release",
)

# Subject, sentence, and how a promise is kept that no test proves.
ELSEWHERE = (
    (
        "Transports",
        "Codex, Claude Code, Gemini CLI and the official Python and TypeScript clients can use every tool.",
        "`scripts/interop` runs these programs against the server, and the official conformance suite with them.",
    ),
    (
        "Access",
        "The token is compared in constant time.",
        "By construction, in `src/qortal_mcp/transports/guard.py`: a test of such small times would fail by chance.",
    ),
    (
        "Limits and abuse",
        "Memory stays flat over many calls, session ids and idle connections.",
        "`scripts/bench` measures it, as it takes minutes.",
    ),
    (
        "Limits and abuse",
        "What a call costs stays within a budget.",
        "`scripts/bench` measures it; `docs/performance.md` says which budgets are met and which are missed.",
    ),
    (
        "Documents",
        "The tests need no network.",
        "A rule of `AGENTS.md`: they contact loopback only. No test can prove it of the others.",
    ),
    (
        "Documents",
        "Every change comes with a test.",
        "A rule of `CONTRIBUTING.md`; `scripts/test` prints which branches no test reaches.",
    ),
)


class BrokenPromise(Exception):
    """A marker that cannot stand on the page; the text says where and why."""


class Marked(Struct, frozen=True):
    """A promise and one test that proves it, as `file::name`."""

    subject: str
    sentence: str
    test: str


def page(tests: Path) -> str:
    """The page, from all test files below a folder.

    Raises: BrokenPromise where a marker is wrong.
    """
    proofs: dict[str, dict[str, list[str]]] = {subject: {} for subject in SUBJECTS}
    for one in marked(tests):
        proofs[one.subject].setdefault(one.sentence, []).append(f"`{one.test}`")
    for subject, sentence, how in ELSEWHERE:
        proofs[subject][sentence] = [how]
    sections = [f"## {subject}\n\n{_list(found)}" for subject, found in proofs.items() if found]
    return "\n".join([_HEAD, *sections])


def _list(proofs: dict[str, list[str]]) -> str:
    return "".join(f"- {sentence}\\\n  {', '.join(found)}\n" for sentence, found in proofs.items())


def marked(tests: Path) -> list[Marked]:
    """Every promise on a test, in the order of files and of the tests in them."""
    found: list[Marked] = []
    subject_of = {sentence: subject for subject, sentence, _ in ELSEWHERE}
    for file in sorted(tests.rglob("test_*.py")):
        for one in _of_file(file, file.relative_to(tests.parent).as_posix()):
            if subject_of.setdefault(one.sentence, one.subject) != one.subject:
                raise BrokenPromise(f'{one.test}: "{one.sentence}" also stands under another subject')
            found.append(one)
    return found


def _of_file(file: Path, name: str) -> Iterator[Marked]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    on_tests = set()
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _is_promise(decorator.func):
                on_tests.add(decorator.func)
                yield _read(decorator, f"{name}::{node.name}")
    for one in ast.walk(tree):
        if _is_promise(one) and one not in on_tests:
            raise BrokenPromise(f"{name}: a promise that does not stand on a test function")


def _is_promise(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.promise"


def _read(call: ast.Call, test: str) -> Marked:
    match call.args:
        case [ast.Constant(value=str(subject)), ast.Constant(value=str(sentence))] if not call.keywords:
            pass
        case _:
            raise BrokenPromise(f"{test}: a promise takes a subject and a sentence, both written out")
    if subject not in SUBJECTS:
        raise BrokenPromise(f"{test}: {subject} is not a subject; known are {', '.join(SUBJECTS)}")
    if not sentence.endswith(".") or sentence != " ".join(sentence.split()):
        raise BrokenPromise(f'{test}: "{sentence}" is not one line that ends with a full stop')
    return Marked(subject, sentence, test)
