"""What the servers about eras have in common: a note, what is said to clients, and whether a call was cancelled."""

import asyncio

NOTE = "note://one"
NOTE_TEXT = "first note"
LOG_TEXT = "be careful"
QUESTION = "What is your name?"
NAME_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PROMPT = "What is six times seven?"
# How long a client waits to hear that its call was cancelled.
CANCEL_SECONDS = 5.0
# The TypeScript SDK, 2.x, loses progress that arrives in one piece with the answer.
PAUSE_SECONDS = 0.05

_cancelled = asyncio.Event()


async def wait_for_ever():
    """Wait until the call is cancelled, and keep that in mind."""
    try:
        await asyncio.Event().wait()
    finally:
        _cancelled.set()


async def was_cancelled() -> str:
    """Whether an earlier call of `wait` was cancelled."""
    try:
        async with asyncio.timeout(CANCEL_SECONDS):
            await _cancelled.wait()
    except TimeoutError:
        return "not cancelled"
    return "cancelled"


async def counted(report):
    """Report the progress of a call by a function of its library."""
    for number in (1, 2):
        await report(number, 2, f"{number} of 2")
        await asyncio.sleep(PAUSE_SECONDS)
    return "counted"


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}!"


def fail() -> str:
    """Always raises."""
    raise ValueError("it did not work")


PLAIN_TOOLS = (greet, fail, was_cancelled)
