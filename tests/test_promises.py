"""The page of promises: every marker can stand on it, and every wrong one is refused."""

import re
from pathlib import Path

import pytest
from docgen.generated import FILES, ROOT
from docgen.promises_page import ELSEWHERE, SUBJECTS, BrokenPromise, marked, page

HERE = Path(__file__).parent


@pytest.mark.promise(
    "Documents", "Every promise on this page names the tests that prove it, or says how else it is kept."
)
def test_every_promise_on_the_page_names_a_test_or_says_how_it_is_kept() -> None:
    shown = FILES["docs/promises.md"]()
    assert re.findall("^## (.+)$", shown, re.MULTILINE) == list(SUBJECTS)
    entries = re.findall(r"^- (.+\.)\\\n  (.+)$", shown, re.MULTILINE)
    assert len(entries) == shown.count("\n- ")
    kept_elsewhere = {sentence: how for _, sentence, how in ELSEWHERE}
    for sentence, proof in entries:
        if sentence not in kept_elsewhere:
            assert re.fullmatch(r"`tests/[\w/]+\.py::test_\w+`(, `tests/[\w/]+\.py::test_\w+`)*", proof)
        else:
            assert proof == kept_elsewhere[sentence]
            for path in re.findall("`([^`]+)`", proof):
                assert (ROOT / path).exists()


def test_every_promise_that_pytest_sees_is_on_the_page(request: pytest.FixtureRequest) -> None:
    read = {(one.subject, one.sentence, one.test.partition("::")[2]) for one in marked(HERE)}
    seen = {
        (*mark.args, item.name.partition("[")[0])
        for item in request.session.items
        for mark in item.iter_markers("promise")
    }
    assert seen <= read


def test_the_page_is_made_of_the_markers(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    promise = '@pytest.mark.promise("Handshake", "It works.")\n'
    (folder / "test_a.py").write_text(
        f"{promise}def test_one(): ...\n\n\n{promise}async def test_two(): ...\n"
    )
    shown = page(folder)
    assert (
        "## Handshake\n\n- It works.\\\n  `tests/test_a.py::test_one`, `tests/test_a.py::test_two`\n" in shown
    )
    assert "## Messages" not in shown


WRONG = {
    "unknown subject": (
        '@pytest.mark.promise("Weather", "It rains.")\ndef test_a(): ...',
        "Weather is not a subject",
    ),
    "no full stop": ('@pytest.mark.promise("Audit", "It works")\ndef test_a(): ...', "full stop"),
    "two lines": ('@pytest.mark.promise("Audit", "It\\nworks.")\ndef test_a(): ...', "one line"),
    "no sentence": ('@pytest.mark.promise("Audit")\ndef test_a(): ...', "a subject and a sentence"),
    "computed": ('@pytest.mark.promise("Audit", WORDS)\ndef test_a(): ...', "both written out"),
    "not called": ("@pytest.mark.promise\ndef test_a(): ...", "does not stand on a test function"),
    "no test": (
        '@pytest.mark.promise("Audit", "It works.")\ndef a(): ...',
        "does not stand on a test function",
    ),
    "whole file": (
        'pytestmark = pytest.mark.promise("Audit", "It works.")',
        "does not stand on a test function",
    ),
    "two subjects": (
        '@pytest.mark.promise("Audit", "It works.")\n@pytest.mark.promise("Nodes", "It works.")\ndef test_a(): ...',
        "also stands under another subject",
    ),
}


@pytest.mark.parametrize(("text", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_promise_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "test_a.py").write_text(text)
    with pytest.raises(BrokenPromise, match=reason):
        marked(tmp_path)


def test_a_misspelt_marker_is_refused_by_pytest() -> None:
    with pytest.raises(pytest.fail.Exception, match="'promis' not found in `markers`"):
        pytest.mark.promis("Audit", "It works.")


def test_every_test_of_the_gateway_stands_for_a_promise() -> None:
    file = "test_mcp_gateway.py"
    named = set(re.findall(r"^def (test_\w+)", (HERE / file).read_text(encoding="utf-8"), re.MULTILINE))
    assert named == {one.test.partition("::")[2] for one in marked(HERE) if f"/{file}::" in one.test}
