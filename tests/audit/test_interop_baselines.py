"""What scripts/interop holds the audits of servers of others against, and how it tells a difference."""

import pytest
from interop.audits import BASELINES, problems_of
from interop.foreign import FOREIGN
from tests.audit.seeds import file_of

from qortal_mcp.audit.checks import BY_CODE
from qortal_mcp.audit.evidence import from_file
from qortal_mcp.audit.judging import baseline
from qortal_mcp.audit.judging.judge import judge


def test_every_server_has_a_baseline_and_every_baseline_a_server() -> None:
    assert {path.stem for path in BASELINES.iterdir()} == set(FOREIGN)


@pytest.mark.parametrize("name", FOREIGN)
def test_a_baseline_speaks_of_codes_that_exist(name: str) -> None:
    known = baseline.read((BASELINES / f"{name}.json").read_bytes())
    assert {code for code, _ in known} <= set(BY_CODE)


def test_what_is_new_and_what_is_gone_is_told() -> None:
    evidence = from_file(file_of("incumbent-now").read_bytes())
    all_known = {(one.code, one.where): "seen" for one in judge(evidence).findings}
    assert [line for line in problems_of(judge(evidence, all_known), all_known) if "looked" not in line] == []
    (missing, *_) = all_known
    known = {**{key: why for key, why in all_known.items() if key != missing}, ("bom", "server"): "gone"}
    told = problems_of(judge(evidence, known), known)
    assert [line for line in told if line.startswith("new: ") and f" {missing[0]} at {missing[1]}" in line]
    assert "no longer found: bom at server" in told
