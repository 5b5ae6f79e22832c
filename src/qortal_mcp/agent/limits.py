"""How big, how long, how many: of a question, a model's endpoint and what tools return."""

from msgspec import Struct

from ..limits import Positive, Seconds


class AgentLimits(Struct, frozen=True, kw_only=True):
    """Limits that hold whatever a model, an endpoint or a server does."""

    # Tool rounds of one question. Real questions take two to five.
    rounds: Positive = 12
    # Prompt and answer tokens of all rounds of one question together. `--max-tokens` sets one.
    tokens: Positive | None = None
    # One question, from the first request to the last word. Models on a small machine take minutes.
    question_seconds: Seconds = 600.0
    # One call of a tool.
    call_seconds: Seconds = 30.0
    # A server from its start to its list of tools. `npx` and `uvx` take tens of seconds the first time.
    start_seconds: Seconds = 60.0
    # Calls of one round that are made; models that lost their way ask for dozens. The rest is refused.
    round_calls: Positive = 32
    # Calls made at the same time.
    parallel_calls: Positive = 8
    # Identical calls after the first that are answered with its result; one more ends the tool rounds.
    repetitions: Positive = 2

    # What a model gets of one result: about 8,000 tokens.
    result_bytes: Positive = 32 * 1024
    # What is kept of one result to look numbers up in, and of all results of a conversation.
    kept_result_bytes: Positive = 1024 * 1024
    kept_results_bytes: Positive = 8 * 1024 * 1024
    # Everything that a model is sent at once, whatever its window is; the oldest results make room.
    prompt_tokens: Positive = 100_000
    # A question, and one argument list that a model writes.
    question_chars: Positive = 32_000
    argument_chars: Positive = 64 * 1024
    # What is kept of earlier questions and answers, newest first.
    history_chars: Positive = 48_000

    # One reply of an endpoint: a long answer has some 50 kB, as a stream of small events twenty times that.
    reply_bytes: Positive = 16 * 1024 * 1024
    answer_chars: Positive = 256 * 1024
    # A model may have to be loaded from a disk before its first word.
    first_word_seconds: Seconds = 300.0
    next_word_seconds: Seconds = 60.0
    # An endpoint, and a server that is tried again or lists its tools again.
    connect_seconds: Seconds = 10.0
    # An endpoint on this machine answers at once, or is not there.
    probe_seconds: Seconds = 1.0
    # Attempts for one reply while the endpoint is busy or failing, and the longest wait between two.
    attempts: Positive = 3
    longest_wait_seconds: Seconds = 30.0


DEFAULT = AgentLimits()
