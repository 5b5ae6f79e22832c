"""Failures of a tool that its caller can act on: an ordinary result, marked as an error.

ToolError: raised by a tool, by reading its arguments, or by what it asks. Its text reaches the model.
Anything else that a tool raises is a bug: logged whole, answered as INTERNAL.
"""


class ToolError(Exception):
    """A code for programs, one sentence for the class of failure, and a second one only if it adds a fact.

    A sentence alone has the code FAILED.
    """

    def __init__(self, code: str, sentence: str = "", fact: str = "", *, retryable: bool = False) -> None:
        if not sentence:
            code, sentence = "FAILED", code
        super().__init__(f"{sentence} {fact}" if fact else sentence)
        self.code = code
        self.retryable = retryable
        # Seconds after which trying again makes sense, if known.
        self.retry_after: float | None = None


def invalid_argument(sentence: str, fact: str = "") -> ToolError:
    return ToolError("INVALID_ARGUMENT", sentence, fact)


def refused(fact: str) -> ToolError:
    return ToolError("REFUSED", "Refused.", fact)


def too_large(fact: str = "") -> ToolError:
    return ToolError("TOO_LARGE", "Answer too large.", fact)


def rate_limited(retry_after: float) -> ToolError:
    error = ToolError("RATE_LIMITED", "Rate limit exceeded.", retryable=True)
    error.retry_after = retry_after
    return error


def crowded() -> ToolError:
    error = ToolError("RATE_LIMITED", "Rate limit exceeded.", "Too many requests at once.", retryable=True)
    error.retry_after = 1.0
    return error


def timed_out(seconds: float) -> ToolError:
    return ToolError(
        "TIMEOUT", "Tool did not finish in time.", f"It was given {seconds:g} s.", retryable=True
    )


def internal() -> ToolError:
    return ToolError("INTERNAL", "Internal error.")
