"""`serve --workers`: several processes at one address that are one server to everybody who uses it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.cli.running import ALICE, COMMAND, SECONDS, Listening, listening, run
from tests.cli.strangers import Answered, http_stranger
from tests.cli.terminals import ended_with_its_terminal
from tests.cli.workers import VALIDATE, Line, called, events, lines, modern, pids_of
from tests.metrics.prometheus import number, numbers
from tests.store.servers import RecordingNode

# In a session of its own: the signal of a closed terminal cannot be meant then.
DETACHED = (
    sys.executable,
    "-c",
    "import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[1:])",
    *COMMAND,
)
FIRST, SECOND = "first-token-of-16", "second-token-of-16"
REPLACED, SERVES = "a worker ended and is replaced", "a worker serves"
# A server of one's own: one tool asks back, the other one waits for a file to appear.
OWN_SERVER = """
import asyncio
from pathlib import Path
from qortal_mcp.server import Context, Server, elicit, tool

@tool("Greeting")
async def greet(ctx: Context) -> str:
    "Greets whoever answers."
    answer = (await ctx.ask({"who": elicit("Who is it?", {"type": "object", "properties": {"name": {"type": "string"}}})}))["who"]
    return "Hello " + answer.content["name"]

@tool("Wait")
async def wait(folder: str) -> str:
    "Waits for a file."
    Path(folder, "begun").touch()
    while not Path(folder, "go").exists():
        await asyncio.sleep(0.02)
    return "done"

server = Server("own", "1", tools=[greet, wait])
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot hand over connections")


@pytest.fixture(scope="module")
def pair() -> Iterator[Listening]:
    with listening("serve", "--sample", "--workers", "2") as server:
        yield server


@pytest.fixture
def own(tmp_path: Path) -> str:
    file = tmp_path / "own.py"
    file.write_text(OWN_SERVER)
    return f"{file}:server"


def calls_counted(line: Line) -> float:
    page = line.ask("/metrics")[1].decode()
    return sum(
        value
        for (name, labels), value in numbers(page).items()
        if name == "mcp_server_operation_duration_seconds_count"
        and ("mcp_method_name", "tools/call") in labels
    )


@pytest.mark.promise(
    "Operations", "With `--workers` connections are spread evenly over processes at one address."
)
def test_every_worker_gets_as_many_connections(pair: Listening) -> None:
    with lines(pair, 8) as opened:
        assert Counter(line.worker for line in opened) == {1: 4, 2: 4}
        assert all(line.call()["result"]["structuredContent"] == {"isValid": True} for line in opened)


def test_it_says_once_where_it_listens_and_what_it_reads(pair: Listening) -> None:
    said = pair.wait_for(lambda text: "sample chain" in text and "workers serve" in text)
    assert said[0] == f"Listening on {pair.url}"
    assert sum(line.startswith("Listening") for line in said) == 1
    (sample,) = events(pair, "answers come from the sample chain: test data, not the real Qortal chain")
    assert sample["worker"] == 1


@pytest.mark.promise(
    "Operations", "With `--workers` any worker serves any request: there are no sessions to lose."
)
def test_a_session_id_that_no_worker_knows_is_served_in_both_eras(pair: Listening) -> None:
    with lines(pair, 2) as both:
        for line in both:
            assert "result" in line.call(VALIDATE, {"Mcp-Session-Id": "of-nobody"})
            body = modern("tools/call", {"name": "validate_address", "arguments": {"address": ALICE}})
            assert line.call_modern(body)["result"]["isError"] is False
            assert line.ask("/readyz")[0] == 200


@pytest.mark.promise(
    "Operations", "With `--workers` subscribers of every worker hear of a new block, each on its connection."
)
def test_subscribers_of_every_worker_hear_of_a_new_block_on_their_own_connection() -> None:
    with (
        RecordingNode().running() as node,
        listening("serve", "--node", node.url, "--workers", "2") as server,
        lines(server, 4) as opened,
    ):
        streams = [line.listen("qortal://node") for line in opened]
        first = [next(stream) for stream in streams]
        assert {message["method"] for message in first} == {"notifications/subscriptions/acknowledged"}
        assert sorted(line.worker for line in opened) == [1, 1, 2, 2]
        node.height = 597
        told = [next(stream) for stream in streams]
        assert {message["method"] for message in told} == {"notifications/resources/updated"}
        assert {message["params"]["uri"] for message in told} == {"qortal://node"}
        os.kill(server.pid, signal.SIGTERM)
        # A last notice may come before the end of each.
        ends = [list(stream)[-1] for stream in streams]
        assert [end["result"]["resultType"] for end in ends] == ["complete"] * 4
        assert server.stop() == 0


@pytest.mark.promise("Operations", "With `--workers` every worker shows the metrics of all of them.")
def test_every_worker_shows_the_numbers_of_all(pair: Listening) -> None:
    with lines(pair, 2) as both:
        before = calls_counted(both[0])
        for line, times in zip(both, (3, 5), strict=True):
            for _ in range(times):
                line.call()
        assert [calls_counted(line) for line in both] == [before + 8, before + 8]
        page = both[1].ask("/metrics")[1].decode()
        assert number(page, "qortal_mcp_workers") == 2
        assert number(page, "qortal_mcp_info", server="qortal-mcp-server", version=_version(page)) == 1
        assert (number(page, "qortal_mcp_http_connections") or 0) >= 2


def _version(page: str) -> str:
    return next(dict(labels)["version"] for (name, labels) in numbers(page) if name == "qortal_mcp_info")


@pytest.mark.promise(
    "Operations", "A worker that dies is replaced and said; nothing that it counted is lost."
)
def test_a_worker_that_is_killed_is_replaced_and_its_numbers_stay() -> None:
    with listening("serve", "--sample", "--workers", "2") as server, ExitStack() as stack:
        first, second = stack.enter_context(lines(server, 2))
        for line, times in ((first, 4), (second, 6)):
            for _ in range(times):
                line.call()
        os.kill(pids_of(server)[first.worker - 1], signal.SIGKILL)
        server.wait_for(lambda text: SERVES in text)
        (ended,) = events(server, REPLACED)
        assert (ended["qortal_mcp.worker"], ended["qortal_mcp.signal"]) == (first.worker, "SIGKILL")
        second.call()  # on the connection that it had
        (again,) = stack.enter_context(lines(server, 1))
        assert again.worker == first.worker  # it has none yet
        again.call()
        for line in (second, again):
            assert calls_counted(line) == 12
            page = line.ask("/metrics")[1].decode()
            assert number(page, "qortal_mcp_worker_restarts_total") == 1
            assert number(page, "qortal_mcp_workers") == 2
            assert number(page, "qortal_mcp_http_connections") == 2


@pytest.mark.promise(
    "Operations", "A worker that hangs does not hold up the metrics, and what it counted stays in them."
)
def test_a_worker_that_hangs_does_not_hold_up_the_metrics() -> None:
    with listening("serve", "--sample", "--workers", "2") as server, lines(server, 2) as (first, second):
        for line in (first, second, second):
            line.call()
        hanging = pids_of(server)[second.worker - 1]
        os.kill(hanging, signal.SIGSTOP)
        try:
            assert calls_counted(first) == 3
        finally:
            os.kill(hanging, signal.SIGCONT)
        assert calls_counted(second) == 3


def test_workers_are_told_settings_however_long_they_are(tmp_path: Path) -> None:
    networks = ", ".join(f'"10.{at // 256}.{at % 256}.0/24"' for at in range(14_000))
    file = tmp_path / "config.toml"
    file.write_text(f"trusted-proxy = [{networks}]\n")
    assert 240_000 < file.stat().st_size < 256 * 1024
    with listening("serve", "--sample", "--workers", "2", "--config", str(file)) as server:
        assert server.ask("/healthz")[0] == 200


@pytest.mark.promise(
    "Operations", "A worker that hangs gets no more connections, and is replaced if it goes on."
)
def test_a_worker_that_hangs_gets_no_more_connections_and_is_replaced() -> None:
    impatient = (
        sys.executable,
        "-c",
        "import sys; from qortal_mcp.cli.running.serve.workers import process; process._HANGING_SECONDS = 6.0\n"
        "from qortal_mcp.cli.main import main; sys.exit(main())",
    )
    words = ("serve", "--sample", "--workers", "2", "--listen", "127.0.0.1:0")
    server = Listening(words, None, impatient)
    first, second = pids_of(server)
    os.kill(second, signal.SIGSTOP)
    with lines(server, 1), ExitStack() as stack:
        threading.Event().wait(2.5)  # for so long it might have been busy
        later = [stack.enter_context(lines(server, 1))[0].worker for _ in range(5)]
        assert later == [1] * 5
        server.wait_for(lambda said: said.count(SERVES) == 1)
        assert pids_of(server) == [first, second]
        (ended,) = events(server, "a worker hangs and is ended")
        assert ended["qortal_mcp.worker"] == 2
    assert events(server, REPLACED)[0]["qortal_mcp.signal"] == "SIGKILL"
    assert server.stop() == 0


def test_the_closed_terminal_that_it_was_started_from_ends_it_with_its_workers() -> None:
    words = [*COMMAND, "serve", "--sample", "--workers", "2", "--listen", "127.0.0.1:0"]
    assert ended_with_its_terminal(words, once_said=b"workers serve") == 0


def test_callers_of_other_workers_notice_nothing_of_one_that_dies() -> None:
    with listening("serve", "--sample", "--workers", "2") as server, ExitStack() as stack:
        opened = stack.enter_context(lines(server, 6))
        doomed = opened[0].worker
        failed: list[int] = []
        over = threading.Event()

        def go_on(line: Line) -> None:
            worker = line.worker
            try:
                while not over.is_set():
                    line.call()
            except OSError:
                failed.append(worker)
            except Exception:  # half an answer
                failed.append(worker)

        threads = [threading.Thread(target=go_on, args=(line,)) for line in opened]
        for thread in threads:
            thread.start()
        os.kill(pids_of(server)[doomed - 1], signal.SIGKILL)
        server.wait_for(lambda text: SERVES in text)
        with lines(server, 4) as more:  # and new ones are served all the time
            assert all("result" in line.call() for line in more)
        over.set()
        for thread in threads:
            thread.join(SECONDS)
        assert failed == [doomed] * 3


@pytest.mark.promise(
    "Operations", "With `--workers` a rate limit holds for a caller over all workers together."
)
def test_a_rate_limit_holds_over_all_workers() -> None:
    with listening("serve", "--sample", "--workers", "3", "--rate-limit", "5") as server:
        began = time.monotonic()
        with lines(server, 9) as opened:
            answers = [line.call() for _ in range(6) for line in opened]
            taken = time.monotonic() - began
        allowed = sum(answer["result"]["isError"] is False for answer in answers)
        # Twice the rate at once, and the rate for as long as it took.
        assert 10 <= allowed <= 10 + 5 * taken + 1
        assert {
            answer["result"]["_meta"]["qortal-mcp/error"]["code"]
            for answer in answers
            if answer["result"]["isError"]
        } <= {"RATE_LIMITED"}


@pytest.mark.promise(
    "Operations", "With `--workers` a question that one worker asked is answered through any other."
)
def test_a_state_that_one_worker_sealed_is_opened_by_another(own: str) -> None:
    with listening("serve", own, "--workers", "2") as server, lines(server, 2) as (first, second):
        asks = modern("tools/call", {"name": "greet", "arguments": {}}, {"elicitation": {}})
        asked = first.call_modern(asks)["result"]
        asks["params"] |= {
            "inputResponses": {"who": {"action": "accept", "content": {"name": "Ann"}}},
            "requestState": asked["requestState"],
        }
        answered = second.call_modern(asks)["result"]
        assert first.worker != second.worker
        assert answered["content"][0]["text"] == "Hello Ann"


@pytest.mark.promise(
    "Operations", "SIGTERM lets all workers finish the calls in flight, and the exit code is 0."
)
def test_calls_in_flight_are_answered_before_it_ends(own: str, tmp_path: Path) -> None:
    server = Listening(("serve", own, "--workers", "2", "--listen", "127.0.0.1:0"), None)
    answers: list[str] = []
    with lines(server, 2) as both:
        folders = [tmp_path / str(line.worker) for line in both]

        def wait_for(line: Line, folder: Path) -> None:
            answers.append(line.call(called("wait", folder=str(folder)))["result"]["content"][0]["text"])

        threads = []
        for line, folder in zip(both, folders, strict=True):
            folder.mkdir()
            threads.append(threading.Thread(target=wait_for, args=(line, folder)))
            threads[-1].start()
        _until(lambda: all((folder / "begun").exists() for folder in folders))
        os.kill(server.pid, signal.SIGTERM)
        _until(lambda: _refuses(server))
        for folder in folders:
            (folder / "go").touch()
        for thread in threads:
            thread.join(SECONDS)
    assert answers == ["done", "done"]
    assert server.stop() == 0


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def _refuses(server: Listening) -> bool:
    host, _, port = server.url.removeprefix("http://").partition("/")[0].partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=SECONDS).close()
    except OSError:
        return True
    return False


@pytest.mark.promise("Operations", "On SIGHUP all workers take the new token, or none does.")
def test_a_signal_makes_all_workers_take_the_new_token(tmp_path: Path) -> None:
    token, config = tmp_path / "token", tmp_path / "config.toml"
    token.write_text(FIRST)
    config.write_text(f'token-file = "{token}"\nlog-level = "info"\nworkers = 2\n')
    with listening("serve", "--sample", "--config", str(config), command=DETACHED) as server:
        with lines(server, 2) as both:

            def let_in(word: str) -> list[bool]:
                return [
                    line.ask("/metrics", headers={"Authorization": f"Bearer {word}"})[0] == 200
                    for line in both
                ]

            assert (let_in(FIRST), let_in(SECOND)) == ([True, True], [False, False])
            token.write_text("short")
            os.kill(server.pid, signal.SIGHUP)
            server.wait_for(lambda text: "everything stays as it is" in text)
            token.write_text(SECOND)
            os.kill(server.pid, signal.SIGHUP)
            server.wait_for(lambda text: "read again: the token and the log level" in text)
            assert (let_in(FIRST), let_in(SECOND)) == ([False, False], [True, True])
        token.write_text("short")  # one that is replaced takes what the others have
        os.kill(pids_of(server)[0], signal.SIGKILL)
        server.wait_for(lambda text: SERVES in text)
        with lines(server, 2) as both:
            assert let_in(SECOND) == [True, True]


def test_workers_end_if_the_process_that_started_them_is_killed() -> None:
    server = Listening(("serve", "--sample", "--workers", "2", "--listen", "127.0.0.1:0"), None)
    pids = pids_of(server)
    # Their standard error is this pipe, which ends with the last of them.
    assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    assert server.is_silent
    _until(lambda: not any(_runs(pid) for pid in pids))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended stays in the list until somebody asks how; in a container there may be nobody.
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_second_ctrl_c_ends_it_at_once(own: str, tmp_path: Path) -> None:
    server = Listening(("serve", own, "--workers", "2", "--listen", "127.0.0.1:0"), None)
    with lines(server, 1) as (line,):
        thread = threading.Thread(target=_ignoring, args=(line, tmp_path))
        thread.start()
        _until((tmp_path / "begun").exists)
        os.kill(server.pid, signal.SIGINT)
        _until(lambda: _refuses(server))
        assert server.stop(signal.SIGINT) == 130
        thread.join(SECONDS)


def _ignoring(line: Line, folder: Path) -> None:
    try:
        line.call(called("wait", folder=str(folder)))
    except Exception:  # its worker is gone
        return


def test_one_worker_loads_nothing_of_what_several_need() -> None:
    modules = [
        *(f"qortal_mcp.{name}" for name in ("one_of_several", "metrics.board", "cli.running.workers")),
    ]
    code = (
        "import sys, qortal_mcp.cli.serve, qortal_mcp.cli.running.serve.serving_chain, qortal_mcp.cli.running.serve.serving_file; "
        f"print([name for name in {modules!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS)
    assert done.stdout.strip() == "[]", done.stderr


WRONG = [
    pytest.param(["--sample", "--toolsets", "nonsense"], 2, "nonsense", id="toolset"),
    pytest.param(["--node", "http://[bad"], 2, "--node", id="node"),
    pytest.param(["--listen", "0.0.0.0:0"], 2, "needs a token", id="no-token"),
    pytest.param(
        ["--sample", "--metrics-file", "/nowhere/at/all.prom"], 2, "--metrics-file", id="metrics-file"
    ),
]


@pytest.mark.parametrize(("words", "code", "why"), WRONG)
def test_a_wrong_setting_is_said_once(words: list[str], code: int, why: str) -> None:
    ended = run("serve", "--listen", "127.0.0.1:0", "--workers", "3", *words)
    assert (ended.code, ended.err.count("\n")) == (code, 1), ended.err
    assert why in ended.err


def test_a_file_that_is_wrong_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("raise ValueError('no luck')")
    ended = run("serve", str(tmp_path / "own.py"), "--workers", "2", "--listen", "127.0.0.1:0")
    assert (ended.code, ended.err.count("no luck")) == (1, 1), ended.err


def test_an_address_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = run("serve", "--sample", "--workers", "2", "--listen", at)
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    assert f"Cannot listen on {at}" in ended.err


REFUSED = [
    pytest.param(["--workers", "0"], "must be a number from 1 to 16", id="none"),
    pytest.param(["--workers", "17"], "must be a number from 1 to 16", id="too-many"),
    pytest.param(["FILE", "--workers", "2", "--sessions"], "a session lives in one process", id="sessions"),
    pytest.param(["FILE", "--workers", "2", "--reload"], "cannot be combined", id="reload"),
]


@pytest.mark.parametrize(("words", "why"), REFUSED)
def test_what_workers_cannot_do_is_refused(own: str, words: list[str], why: str) -> None:
    ended = run("serve", *(own if word == "FILE" else word for word in words))
    assert ended.code == 2
    assert why in ended.err


def test_the_metrics_file_has_the_numbers_of_all(tmp_path: Path) -> None:
    file = tmp_path / "all.prom"
    words = ("serve", "--sample", "--workers", "2", "--metrics-file", str(file))
    with listening(*words) as server, lines(server, 4) as opened:
        for line in opened:
            line.call()
    counted = {
        name: value
        for (name, labels), value in numbers(file.read_text()).items()
        if ("gen_ai_tool_name", "validate_address") in labels
    }
    assert counted["mcp_server_operation_duration_seconds_count"] == 4


@pytest.mark.promise("Operations", "With `--workers` the questions of a caller are counted over all workers.")
def test_questions_on_the_way_are_counted_over_all_workers() -> None:
    asked, answer = threading.Semaphore(0), threading.Event()

    def model(verb: str, headers: object, body: bytes) -> Answered:
        asked.release()
        answer.wait(SECONDS)
        return 500, {}, b""

    with (
        http_stranger(model) as url,
        listening("serve", "--sample", "--workers", "2", "--base-url", url, "--model", "any") as server,
        lines(server, 4) as opened,
    ):
        threads = [
            threading.Thread(target=line.ask, args=("/ask", {"question": "What height?"}))
            for line in opened[:2]
        ]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert asked.acquire(timeout=SECONDS)
        assert {line.worker for line in opened[2:]} == {1, 2}
        for line in opened[2:]:
            status, said = line.ask("/ask", {"question": "And the time?"})
            assert (status, b"2 questions on the way" in said) == (429, True)
        answer.set()
        for thread in threads:
            thread.join(SECONDS)
        assert opened[2].ask("/ask", {"question": "And now?"})[0] != 429


def test_the_log_says_which_worker_and_names_a_caller_alike_in_all() -> None:
    with listening(
        "serve", "--sample", "--workers", "2", "--access-log", "--trusted-proxy", "127.0.0.1"
    ) as server:
        with lines(server, 2) as both:
            for line in both:
                line.call(VALIDATE, {"X-Forwarded-For": "192.0.2.7"})
            server.wait_for(lambda text: text.count("validate_address") >= 2)
        said = [
            line for line in events(server, "request") if line.get("qortal_mcp.tool") == "validate_address"
        ]
        assert sorted(line["worker"] for line in said) == [1, 2]
        assert len({line["qortal_mcp.caller"] for line in said}) == 1
        assert all(line["request_id"].startswith(f"{line['worker']}.") for line in said)


@pytest.mark.promise("Operations", "systemd is told when all workers serve, and not before.")
def test_a_service_manager_is_told_when_all_serve(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(SECONDS)
        manager.bind(address)
        with listening("serve", "--sample", "--workers", "2", env={"NOTIFY_SOCKET": address}) as server:
            assert manager.recv(100) == b"READY=1"
            manager.setblocking(False)
            with lines(server, 2) as both:
                assert {line.worker for line in both} == {1, 2}
            with pytest.raises(BlockingIOError):
                manager.recv(100)


def test_a_worker_that_is_asked_to_end_finishes_its_calls_and_is_replaced(own: str, tmp_path: Path) -> None:
    with listening("serve", own, "--workers", "2") as server, lines(server, 1) as (line,):
        answers: list[str] = []

        def wait_for() -> None:
            said = line.call(called("wait", folder=str(tmp_path)))
            answers.append(json.dumps(said["result"]["content"]))

        thread = threading.Thread(target=wait_for)
        thread.start()
        _until((tmp_path / "begun").exists)
        os.kill(pids_of(server)[line.worker - 1], signal.SIGTERM)
        (tmp_path / "go").touch()
        thread.join(SECONDS)
        server.wait_for(lambda text: SERVES in text)
        assert "done" in answers[0]
        assert events(server, REPLACED)[0]["qortal_mcp.exit_code"] == 0
