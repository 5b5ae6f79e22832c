"""What can be wrong with the store that servers share."""

from collections.abc import Iterator

from ...settings import CACHE_PASSWORD_VARIABLE
from ..check import Finding, check, good, problem, unknown, warning
from ..looks.store import StoreFacts


@check("store-options", "options", StoreFacts, "With --cache: would `serve` start with it?")
def options(facts: StoreFacts) -> Iterator[Finding]:
    if facts.refusal:
        yield problem(facts.refusal, "Correct it: serve refuses to start with it.")
    if facts.is_without_client:
        yield problem(
            "The Valkey client is not installed.", "Install qortal-mcp with its extra: qortal-mcp[shared]."
        )


@check("store-reachable", "reachable", StoreFacts, "With --cache: does the shared store answer, and soon?")
def reachable(facts: StoreFacts) -> Iterator[Finding]:
    if facts.refusal or facts.is_without_client:
        return
    if facts.wants_password:
        yield problem(
            "It refuses the password, or wants one.",
            f"Give the right one with --cache-password-file FILE or the variable {CACHE_PASSWORD_VARIABLE}.",
        )
    elif facts.failure:
        # Servers work without it, each by itself.
        yield warning(
            f"It does not answer: {facts.failure}.",
            "Start it or correct --cache. Until then every server reads and counts by itself.",
        )
    elif facts.milliseconds > 50:
        yield warning(
            f"It took {facts.milliseconds} ms to answer.",
            "Use a store on the same network: servers wait for it 100 ms at most.",
        )
    else:
        yield good(f"answered in {facts.milliseconds} ms")


@check("store-version", "version", StoreFacts, "With --cache: which server is it? 6.2 and later will do.")
def version(facts: StoreFacts) -> Iterator[Finding]:
    if facts.refusal or facts.is_without_client or facts.failure:
        return
    if not facts.version:
        yield unknown("It does not say its version.", "Allow the command INFO, or check it yourself.")
        return
    number = facts.version.rpartition(" ")[2].split(".")
    is_old = tuple(int(part) if part.isdigit() else 0 for part in number[:2]) < (6, 2)
    if is_old:
        yield warning(f"{facts.version} is older than 6.2.", "Use Valkey, or Redis 6.2 or later.")
    else:
        yield good(facts.version)


@check("store-memory", "memory", StoreFacts, "With --cache: is its memory bounded, and does it make room?")
def memory(facts: StoreFacts) -> Iterator[Finding]:
    if facts.most_memory is None:
        return
    if facts.most_memory == 0:
        yield warning(
            "It may use any amount of memory.", "Set maxmemory 256mb and maxmemory-policy allkeys-lru in it."
        )
    elif not facts.evicts:
        yield warning(
            "It refuses new values once its memory is full.", "Set maxmemory-policy allkeys-lru in it."
        )
    else:
        yield good(f"at most {facts.most_memory // 1_048_576} MiB")
