"""`ask --eval`: questions with their facts, asked one after the other, and a table of how they were answered."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.agent.questions import QUESTIONS
from tests.agent.scripted_answers import answer
from tests.agent.scripted_endpoint import Reply, Request, Said, Script, ScriptedEndpoint, calls, refuses, says
from tests.cli.running import COMMAND, SECONDS, Ended, environment, run
from tests.cli.terminals import CTRL_C, terminal

FORTY = Path(__file__).parents[2] / "examples" / "questions.json"
HEIGHT = {"question": "How high is the chain?", "facts": ["596"], "calls": [{"tool": "get_node_status"}]}
OWNER = {"question": "Who owns\nthe chain?", "facts": ["nobody", "at all"]}


def settings(endpoint: ScriptedEndpoint) -> dict[str, str]:
    return {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_MODEL": "scripted", "COLUMNS": "80"}


def evaluate(script: Script, path: Path, *words: str) -> Ended:
    with ScriptedEndpoint(script) as endpoint:
        return run("ask", "--sample", "--eval", str(path), *words, env=settings(endpoint))


def file_of(tmp_path: Path, *questions: Any) -> Path:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(questions))
    return path


def test_the_forty_questions_are_answered_by_a_model_that_reads_its_tools() -> None:
    done = evaluate(answer, FORTY)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line[:8] for line in lines if line.startswith(("ok", "FAIL"))] == [
        f"ok   {number:>3}" for number in range(1, 41)
    ]
    facts = sum(len(question.facts) for question in QUESTIONS)
    total = " ".join(lines[-2:])
    assert f"scripted: 40 of 40 questions right, {facts} of {facts} facts, 0 values not from a tool" in total
    assert max(map(len, lines)) <= 80


def test_a_fact_that_is_wrong_is_named(tmp_path: Path) -> None:
    script = [calls(("get_node_status", {})), says("It is 596."), says("Somebody, at all; see 4711.")]
    done = evaluate(script, file_of(tmp_path, HEIGHT, OWNER))
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == "ok     1  How high is the chain?"
    assert lines[1].startswith("          1/1 facts, 0 not from a tool, ")
    assert lines[1].endswith("; get_node_status")
    assert lines[2] == "FAIL   2  Who owns the chain?"
    assert lines[3].endswith("; no calls")
    assert lines[4:6] == ["          missing: nobody", "          not from a tool: 4711"]
    assert lines[6].startswith("scripted: 1 of 2 questions right, 2 of 3 facts, 1 value not from a tool,")


def test_json_has_a_verdict_for_each_question(tmp_path: Path) -> None:
    script = [calls(("get_node_status", {})), says("It is 596."), says("Somebody.")]
    done = evaluate(script, file_of(tmp_path, HEIGHT, OWNER), "--json", "--trace")
    found = done.json
    assert done.code == 1
    assert (found["model"], found["right"], found["notAsked"]) == ("scripted", 1, 0)
    assert [verdict["missing"] for verdict in found["questions"]] == [[], ["nobody", "at all"]]
    assert found["questions"][0]["tools"] == ["get_node_status"]
    assert done.err.startswith("get_node_status {} ok\n")


def test_a_question_without_a_complete_answer_could_not_be_judged(tmp_path: Path) -> None:
    script: list[Reply] = [refuses(400, "not now"), says("Nobody at all.")]
    done = evaluate(script, file_of(tmp_path, HEIGHT, OWNER))
    assert done.code == 3
    assert "not now" in done.out
    assert "1 of 2 questions right" in done.out


def test_an_endpoint_that_keeps_failing_ends_the_evaluation() -> None:
    done = evaluate(lambda request: refuses(401, "wrong key"), FORTY)
    assert done.code == 3
    assert sum(line.startswith("FAIL") for line in done.out.splitlines()) == 3
    assert "0 of 3 questions right (37 more were not asked)" in done.out
    assert done.err == "qortal-mcp: The endpoint failed 3 times in a row; not asked: 37 questions.\n"


def test_each_question_is_asked_without_the_earlier_ones(tmp_path: Path) -> None:
    with ScriptedEndpoint([says("596"), says("Nobody at all.")]) as endpoint:
        path = file_of(tmp_path, HEIGHT, OWNER)
        run("ask", "--sample", "--eval", str(path), env=settings(endpoint))
        roles = [[one["role"] for one in request.body["messages"]] for request in endpoint.chats]
    assert roles == [["system", "user"], ["system", "user"]]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "there is no question in it", id="empty"),
        pytest.param(b"[]", "there is no question in it", id="no-questions"),
        pytest.param(b"not json", "line 1: JSON is malformed", id="not-json"),
        pytest.param(
            b'{"question":"q","facts":["f"]}\n\n{"question":"q"}\n',
            "line 3: Object missing required field `facts`",
            id="line-3",
        ),
        pytest.param(b'{"question":"q","facts":["f"]}\nq\n', "line 2: JSON is malformed", id="line-2"),
        pytest.param(
            b'[{"question":"q","facts":["f"]},\n {"question":"q","facts":[]}]',
            "question 2: Expected `array` of length >= 1 - at `$.facts`",
            id="no-facts",
        ),
        pytest.param(b'[{"question":"","facts":["f"]}]', "question 1: Expected `str`", id="no-question"),
        pytest.param(b'[{"question":"q","fact":"f"}]', "question 1: Object", id="unknown-field"),
        pytest.param(b'[{"question":"q",\n"facts":["f"]', "Input data was truncated", id="cut"),
        pytest.param(b'{"question":"\xff","facts":["f"]}', "line 1", id="not-utf-8"),
        pytest.param(
            b'[{"question":"q","facts":["%b"]}]' % (b"f" * 1_001),
            "question 1: Expected `str`",
            id="long-fact",
        ),
        pytest.param(b"[" * 100_000, "does not hold questions", id="deep"),
    ],
)
def test_a_file_that_does_not_hold_questions_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "questions.json"
    path.write_bytes(data)
    with ScriptedEndpoint() as endpoint:
        done = run("ask", "--sample", "--eval", str(path), env=settings(endpoint))
        assert endpoint.requests == []
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_questions_may_be_one_per_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f"{json.dumps(HEIGHT)}\n\n{json.dumps(OWNER)}\n")
    done = evaluate([says("596"), says("Nobody at all.")], path)
    assert done.code == 0
    assert "2 of 2 questions right" in done.out


def _slow_second(request: Request) -> Said:
    is_first = request.body["messages"][-1]["content"] == HEIGHT["question"]
    return says("It is 596.") if is_first else says("never", pause=60)


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["table", "json"])
def test_an_interrupt_keeps_what_is_known(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = file_of(tmp_path, HEIGHT, OWNER, HEIGHT)
    with ScriptedEndpoint(_slow_second) as endpoint:
        process = subprocess.Popen(
            [*COMMAND, "ask", "--sample", "--eval", str(path), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(settings(endpoint)),
        )
        while len(endpoint.chats) < 2:
            assert process.poll() is None
            endpoint.wait(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (130, b"")
    if words:
        found = json.loads(out)
        assert (found["right"], found["notAsked"], len(found["questions"])) == (1, 2, 1)
    else:
        assert out.startswith(b"ok     1  How high is the chain?\n")
        assert b"1 of 1 questions right (2 more were not asked)" in out


def test_progress_at_a_terminal_leaves_nothing_behind(tmp_path: Path) -> None:
    path = file_of(tmp_path, HEIGHT, OWNER)
    with (
        ScriptedEndpoint(_slow_second) as endpoint,
        terminal("ask", "--sample", "--trace", "--eval", str(path), env=settings(endpoint)) as opened,
    ):
        opened.until("1 of 2: How high is the chain?")
        opened.until("2 of 2: Who owns the chain?")
        opened.typed(CTRL_C)
        assert opened.ended() == 130
        screen = "\n".join(opened.screen)
    assert screen.startswith("ok     1  How high is the chain?\n")
    assert "2 of 2" not in screen
