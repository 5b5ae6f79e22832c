"""What of an answer is found in the results of tools, and what is marked."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cost import cpu_seconds, is_linear

from qortal_mcp.agent.grounding.check import ground, occurs

ADDRESS = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
SIGNATURE = "4yfhViFnBA1cxvktzaiPAKXBoH7HHMn6A4qzbKLEfRPdy4h8z99qq7AorQY99SAwU2V8Jchh9g28MuAMLLRBee6D"
RESULT = {
    "height": 298,
    "balance": "1001427.50833805",
    "price": 12.349,
    "amount": "1234.50000000",
    "change": -5,
    "share": 0.12,
    "satoshis": 100000000,
    "rows": [True, False, True, False, True, False, True],
    "name": "alice-test",
    "owner": ADDRESS,
    "signature": SIGNATURE,
    "hash": "00AA11bb22cc33dd44ee55ff66778899",
    "group": "Open Lounge",
    "text": "closed group of bobby, see https://example.org/a?b=1",
    "created": 1714572300000,
    "time": "2026-11-15T19:12:25.981Z",
    "uptime": 4939330,
    "version": "qortal-6.1.8-bb6b1bf",
    "last24Hours": None,
    "BLOG_POST": None,
}
RESULTS = [json.dumps(RESULT)]


def marked(answer: str, results: list[str] | None = None) -> list[str]:
    return [claim.text for claim in ground(answer, RESULTS if results is None else results).not_from_a_tool]


FOUND = [
    *(
        "1234.5",
        "1,234.50",
        "1 234,50",
        "1\u2009234,50",
        "1.234,50",
        "1'234.50",
        "1’234.5",
        "１２３４.５",
        "١٢٣٤٫٥",
    ),
    *("-5", "−5", "fell by 5", "1e8", "1.0×10^8", "100M", "0.1 bn", "100 Mio.", "100 millions"),
    *(
        "12 %",
        "12%",
        "12 percent",
        "0.12",
        "12.3",
        "12.35",
        "12.34",
        "$12.35",
        "12 QORT",
        "#298",
        "298th",
        "block-298",
    ),
    *(
        "1,001,427.51",
        "1.0 million",
        "about 1,000,000",
        "~1,001,000",
        "7 rows",
        "the last 24 hours",
        "24-hour",
    ),
    *(
        "2026-11-15",
        "15 November 2026",
        "Nov 15, 2026",
        "15.11.2026",
        "11/15/2026",
        "15 novembre 2026",
        "in 2026",
    ),
    *(
        "19:12 UTC",
        "7:12 pm",
        "19:12:25",
        "19:12:26",
        "20:12 (UTC+1)",
        "November 2026",
        "the 15th",
        "2026年11月15日",
    ),
    *(
        "2024-05-01",
        "1 May 2024",
        "14:05 UTC",
        "May 1, 2024 at 2:05 pm",
        "2024-05-01T14:05:00Z",
        "19h12",
        "1714572300000",
    ),
    *("1 h 22 min", "82 minutes", "1.37 hours", "1:22:19", "1h 22m 19s"),
    *("6.1.8", "v6.1.8", "qortal-6.1.8", "`bb6b1bf`", "qortal-6.1.8-bb6b1bf"),
    *(
        ADDRESS,
        f"`{ADDRESS}`",
        "QgV4s3…Hsd9v",
        "QgV4s3...",
        SIGNATURE,
        f"{SIGNATURE[:8]}…",
        RESULT["hash"],
        "00aa11bb22cc33dd44ee55ff66778899",
    ),
    *(
        "`alice-test`",
        "@alice-test",
        "“open lounge”",
        "«Open Lounge»",
        "**Open Lounge** is",
        "`BLOG_POST`",
        "`last24Hours`",
    ),
    "see https://example.org/a?b=1.",
]
MARKED = [
    *("1234.6", "1,235.50", "1.234,60", "-6", "-12.349", "1e9", "1.3 million", "13 %", "12.36", "12.33", "13", "#299", "8 rows"),
    *("1,000,000", "1001427.6", "0", "25 hours", "2026-11-16", "16 November 2026", "19:13", "7:12 am", "14:06", "November 2025"),
    *("May 1, 2024 at 19:12", "2 h 22 min", "6.1.9", "v6.2.8", "١٢٣٤٫٧"),
    *(ADDRESS.replace("s3x", "s4x"), ADDRESS.lower(), "QgV4s4…Hsd9v", "QgV4s3…Hsd9w", SIGNATURE.swapcase()),
    *("`bob`", "“Alice”", "alice-test2", "@alice", "B0b", "BLOG_POSTS", "**Closed Lounge** is", "'Lounge Open'", "named carol"),
    "https://example.org/a?b=2",
]  # fmt: skip
NOT_CLAIMS = [
    *(
        "1. First\n2. Second\n",
        "1) One\n2) Two",
        "## 1. Owners",
        "| # | What |\n|---|---|\n| 1 | x |\n| 2 | y |",
    ),
    *(
        "**Offer 1:** good\n**Offer 2:** bad",
        "as said [1] and [2]",
        "1️⃣ one",
        "five offers",
        "read-only",
        "```json\n```",
    ),
    *(
        "**Balance:** fine",
        "**Owner** – x",
        "this is **not** for sale",
        "`true`",
        "well-known P2P",
        "it is “yes”",
        "Wait...",
    ),
]


@pytest.mark.parametrize("answer", MARKED)
def test_what_no_result_has_is_marked(answer: str) -> None:
    assert len(marked(answer)) == 1


@pytest.mark.parametrize("answer", FOUND)
def test_what_a_result_has_is_found_however_it_is_written(answer: str) -> None:
    seen = ground(answer, RESULTS)
    assert seen.checked == 1
    assert seen.not_from_a_tool == ()


@pytest.mark.parametrize("answer", NOT_CLAIMS)
def test_what_counts_or_points_is_not_looked_up(answer: str) -> None:
    assert ground(answer, []).checked == 0


def test_many_shortened_addresses_that_begin_like_everything_cost_little_more_than_one() -> None:
    results = [" ".join(f"Qaaa1{number:08}" for number in range(70_000))]
    forms = [f"Qaaa1…{number:03}z" for number in range(200)]
    assert marked(" ".join(forms), results) == forms
    one = cpu_seconds(lambda: marked(forms[0], results))
    assert cpu_seconds(lambda: marked(" ".join(forms), results)) < 10 * one


def test_a_claim_says_its_kind_and_place_and_whether_it_was_asked_about() -> None:
    answer = f"The name `carol` has 77 QORT, {ADDRESS}, {SIGNATURE}, since 14:05."
    claims = ground(answer, [], "Does Carol have 77 QORT?").not_from_a_tool
    assert [(claim.kind, claim.in_question) for claim in claims] == [
        ("name", True), ("number", True), ("address", False), ("signature", False), ("time", False)
    ]  # fmt: skip
    assert all(answer[claim.start : claim.end] == claim.text for claim in claims)


@pytest.mark.parametrize(
    "result",
    [
        "Balance: 1,234.50 QORT of carol",
        '{"a": "cut \\u00e4 \\n1234.5\\ncarol',
        "[" * 5000 + ' 1234.5 "carol"',
    ],
)
def test_a_result_that_is_not_json_is_read_as_text(result: str) -> None:
    assert marked("`carol` has 1234.5 QORT", [result]) == []


HOSTILE = ["1", "1,", "1.", "1 111 ", "1:", "0-", "1h 1m ", "a-", "**a", "`a", '"a', "|a", "| 1 |\n", " ", "\n", "- ", "\x00", "_",
           "Qa1…b2 ", "a://", "1e", "2026-", "May ", "owned by ", "'", "« ", "1x10^", "[1]", "١,", "\ud800", "[", '{"a":']  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_a_hostile_answer_or_result_takes_linear_time(unit: str) -> None:
    def checked(hostile: str) -> None:
        assert ground(hostile, [hostile], hostile).checked <= len(hostile)

    assert is_linear(lambda size: (unit * size)[:size], checked, 32_768)


@pytest.mark.parametrize("number", ["9" * 10_000, "1e999999999", "-1E-999999999", "0." + "1" * 5000])
def test_a_huge_number_is_looked_up_as_it_is_written(number: str) -> None:
    assert len(marked(number, [])) == 1
    assert marked(number, ["1", f"it is {number}"]) == []
    assert marked("5", [f"[{number}, 5]"]) == []


numbers = st.decimals(min_value=-(10**9), max_value=10**9, places=4)


@given(numbers, st.integers(0, 4))
def test_any_number_of_a_result_is_found_with_any_precision(number: object, places: int) -> None:
    for written in (
        f"{number:.{places}f}",
        f"{number:,.{places}f}",
        f"{number:,.{places}f}".translate(str.maketrans(",.", ".,")),
    ):
        if float(written.replace(",", "").replace(".", "")):
            assert marked(f"It is {written} QORT.", [f'{{"a": {number}}}']) == []


@given(numbers, numbers)
def test_a_number_far_from_all_others_is_marked(one: object, other: object) -> None:
    if abs(abs(float(str(one))) - abs(float(str(other)))) > 0.001:
        assert (
            marked(
                f"It is {other:.4f}!", [f'["x", {{"a": {one}}}]'] if float(str(other)) not in (1, 2) else []
            )
            != []
        )


@given(st.text(), st.lists(st.text(), max_size=3), st.text(), st.text())
def test_results_have_no_order_and_more_of_them_never_take_anything_away(
    answer: str, results: list[str], more: str, question: str
) -> None:
    seen = ground(answer, results, question)
    assert all(answer[claim.start : claim.end] == claim.text for claim in seen.not_from_a_tool)
    assert ground(answer, results[::-1], question) == seen
    assert set(ground(answer, [*results, more], question).not_from_a_tool) <= set(seen.not_from_a_tool)
    assert ground(answer, [*results, more], question).checked == seen.checked


@pytest.mark.parametrize(
    ("fact", "text", "expected"),
    [
        ("9.99", '{"amount":"9.99000000"}', True),
        ("9.99", '{"amount":"9.99000001"}', False),
        ("25", '{"height":25,"level":1}', True),
        ("25", '{"height":125}', False),
        ("25", '{"time":"2026-11-25T19:25:44.025Z"}', False),
        ("25", "Q25abc, abc25 and 1.25", False),
        ("0", '{"returned":0}', True),
        ("499790.72495548", "It holds 499,790.72495548 QORT.", True),
        ("499790.72", "It holds 499,790.72495548 QORT.", False),
        ("499790.72495548", "It holds about 499,791 QORT.", False),
        ("1200000", "1.2 million", True),
        ("0.5", "Sie kostet 0,50 QORT.", True),
        ("100", "99.99", False),
        ("3", "3.4", False),
        ("-5", "It fell by 5.", False),
        ("bob", '{"name":"Bob"}', True),
        ("bob", "Bobby", False),
        ("100%real", '["100%real"]', True),
    ],
)
def test_a_fact_occurs_as_its_value_without_rounding_or_as_whole_words(
    fact: str, text: str, expected: bool
) -> None:
    assert occurs(fact, text) is expected


def test_the_name_of_a_tool_is_not_a_claim() -> None:
    answer = "According to `get_fee` and **get_balance**, not to `get_gee`, it is 0.01 QORT."
    seen = ground(answer, ["0.01"], tools={"get_fee", "get_balance"})
    assert [claim.text for claim in seen.not_from_a_tool] == ["get_gee"]
    assert seen.checked == 2
