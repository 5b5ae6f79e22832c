"""What a person, or the model, is told about a run. One sentence for each cause."""

from collections.abc import Sequence

from .run import Ending, ServerSeen

# To the model.
ANSWER_NOW = "Answer my question now, in words, with what you know from the tools."
LAST_WORD = "No more tools can be called for this question. Answer now with what the tools have returned, and say what is missing."
NO_CALL_LEFT = (
    "Not called: no more than {most} calls are made at a time. Call it again if it is still needed."
)
UNANSWERED = "The question ended before this call was answered."
LEFT_OUT = "[left out to make room for newer results: {size} characters]"

# Why an answer may not be what was asked for; appended to the answer.
_ENDED: dict[Ending, str] = {
    "rounds": "Stopped after {rounds} of tool calls (--max-rounds); this answer may be incomplete.",
    "tokens": "Stopped after {tokens} tokens (--max-tokens); this answer may be incomplete.",
    "time": "Stopped after {seconds:g} s (--max-time); this answer may be incomplete.",
    "repetition": "Stopped because the model asked for the same call again and again; this answer may be incomplete.",
    "no-tools": "No tools were available, so nothing here was looked up.{why}",
    "cut-off": "The model's answer ended in the middle.",
}


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def ended(ending: Ending, **facts: object) -> str:
    """A sentence for the end of an answer; empty if there is nothing to say."""
    return _ENDED.get(ending, "").format(**facts)


NO_ANSWER = "The model gave no answer, although it was asked twice. Ask again, or ask another model."
FILTERED = "The endpoint withheld the answer: its content filter stopped it. Ask in other words, or ask another model."


def partly_checked(checked: int) -> str:
    return f"Only the first {checked:,} numbers, names and addresses of the answer were looked up in the results of the tools."


def does_not_call(model: str) -> str:
    return (
        f"The model {model} wrote a tool call as text that cannot be run: it does not seem to call tools. "
        "Try a model that supports tools, or a larger one."
    )


def written_as_text(tools: Sequence[str]) -> str:
    return f"The model wrote a call as text instead of making it; it was made anyway: {', '.join(tools)}."


def cut_prompt(sent: int, counted: int, hint: str) -> str:
    return (
        f"The endpoint cut the prompt: about {sent:,} tokens were sent and it read {counted:,}, so the model did not see all of its "
        f"tools. {hint}".rstrip()
    )


def small_window(needed: int, window: int, hint: str) -> str:
    return (
        f"The model's window of {window:,} tokens is too small for all tools, their results and an answer: tools and question alone have "
        f"about {needed:,}. {hint}".rstrip()
    )


def too_many_tools(needed: int, most: int) -> str:
    return (
        f"Tools and question have about {needed:,} tokens, and no more than {most:,} are sent at once. Use fewer servers, or fewer "
        "tools of this program (--toolsets)."
    )


def no_room(needed: int, window: int, hint: str) -> str:
    return (
        f"The model's window of {window:,} tokens is too small: the rules and the question have about {needed:,}, and not one tool "
        f"fits beside them. {hint}".rstrip()
    )


def fewer_tools(offered: int, of: int) -> str:
    return f"It was offered {offered} of {of} tools, the ones that suit the question best."


def fewer_calls(made: int, of: int) -> str:
    return f"The model asked for {of} calls at once; the results of {made} fit into its window, and only these were made."


def unavailable(servers: Sequence[ServerSeen]) -> list[str]:
    """One sentence for each server that cannot be used."""
    return [server.problem for server in servers if server.problem]
