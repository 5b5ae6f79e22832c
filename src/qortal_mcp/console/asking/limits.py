"""How big, how long, how many: of what the page asks for beyond what MCP offers."""

from msgspec import Struct

from ...limits import Positive, Seconds


class ConsoleLimits(Struct, frozen=True, kw_only=True):
    """Limits that hold whatever the page, or somebody who pretends to be it, asks for."""

    # What the questions of one caller may take within this time. Afterwards everything is free again.
    period_seconds: Seconds = 3600.0
    # Calls of tools: an hour of busy asking is some hundred.
    caller_calls: Positive = 600
    # Prompt and answer tokens: a question takes 10,000 to 50,000, and somebody pays for them.
    caller_tokens: Positive = 1_000_000
    # Time that a model works for the caller: one model, all the time.
    caller_seconds: Seconds = 3600.0
    # Questions at the same time, of one caller and in all: a model on one's own machine answers one or two.
    caller_questions: Positive = 2
    all_questions: Positive = 8
    # Callers that are remembered; those that have asked nothing for the longest are forgotten first.
    callers: Positive = 4096
    # Earlier questions that come with a question. The model is sent the newest that fit, which are fewer.
    turns: Positive = 100
    # An answer. What a person reads has some 5,000 characters, with a long table 20,000; everybody who uses this server
    # waits a moment while it is looked up.
    answer_chars: Positive = 64 * 1024
    # One argument list that a model writes. The longest that a tool of this server takes has 1,000 characters, or 6,000
    # if each is escaped; a question may make hundreds of calls.
    argument_chars: Positive = 8 * 1024
    # What the calls of a run may have in its last event: each was sent before, as it was made.
    run_calls_bytes: Positive = 2 * 1024 * 1024
    # How long the outcome of looking for a model holds, whether there is one or not.
    model_seconds: Seconds = 15.0


DEFAULT = ConsoleLimits()
