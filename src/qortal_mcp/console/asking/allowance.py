"""How much each caller may ask: calls, tokens and seconds within a period, and questions at the same time."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Protocol

from msgspec import Struct

from .limits import DEFAULT, ConsoleLimits


class Share(Struct, frozen=True, kw_only=True):
    """What a question takes, or may take."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Refusal(Struct, frozen=True):
    """Why a question is not asked now, and after how many seconds it may be."""

    sentence: str
    retry_after: float


class _Account(Struct):
    """What a caller has taken since its period began, and what its questions on the way may still take."""

    since: float
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    questions: int = 0
    reserved_tokens: int = 0
    reserved_seconds: float = 0.0


class Place(Struct, frozen=True):
    """A question on its way. It has to be given back."""

    caller: Hashable
    began: float
    may_take: Share
    # Which one, where the allowance is kept by another process.
    number: int = 0


class Allowing(Protocol):
    """Whoever keeps the allowance of all callers."""

    async def take(self, caller: Hashable, tokens: int | None, seconds: float) -> Place | Refusal: ...

    def give_back(self, place: Place, calls: int, tokens: int) -> None: ...


class OwnAllowance:
    """The allowance of a server that is one process."""

    def __init__(self, limits: ConsoleLimits = DEFAULT) -> None:
        self._allowance = Allowance(limits)
        self.give_back = self._allowance.give_back

    async def take(self, caller: Hashable, tokens: int | None, seconds: float) -> Place | Refusal:
        return self._allowance.take(caller, tokens, seconds)


class Allowance:
    """One for all that is served together. A question that has begun may be finished, so that a caller can exceed its calls by one."""

    def __init__(self, limits: ConsoleLimits = DEFAULT, now: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._now = now
        self._accounts: OrderedDict[Hashable, _Account] = OrderedDict()
        self._questions = 0

    def take(self, caller: Hashable, tokens: int | None, seconds: float) -> Place | Refusal:
        """A place for a question that may take so much if that much is left; without `tokens`, whatever is left."""
        now = self._now()
        account = self._account(caller, now)
        refusal = self._refusal(account, now)
        if refusal is not None:
            return refusal
        share = self._share(account, tokens, seconds)
        account.questions += 1
        account.reserved_tokens += share.tokens
        account.reserved_seconds += share.seconds
        self._questions += 1
        return Place(caller, now, share)

    def give_back(self, place: Place, calls: int, tokens: int) -> None:
        """The question is over, and has taken this, and the time since it began."""
        now = self._now()
        account = self._account(place.caller, now)
        account.calls += calls
        account.tokens += tokens
        account.seconds += now - place.began
        account.questions -= 1
        account.reserved_tokens -= place.may_take.tokens
        account.reserved_seconds -= place.may_take.seconds
        self._questions -= 1

    def _refusal(self, account: _Account, now: float) -> Refusal | None:
        limits = self._limits
        if account.questions >= limits.caller_questions:
            return Refusal(
                f"You have {account.questions} questions on the way, and more are not asked at the same time. "
                "Wait for one of them, or stop it.",
                1.0,
            )
        if self._questions >= limits.all_questions:
            return Refusal(
                f"{self._questions} questions are on the way, and more are not asked at the same time. Try again in a moment.",
                5.0,
            )
        left = account.since + limits.period_seconds - now
        for what, taken, most in (
            ("tool calls", account.calls, limits.caller_calls),
            ("tokens", account.tokens + account.reserved_tokens, limits.caller_tokens),
            ("seconds", account.seconds + account.reserved_seconds, limits.caller_seconds),
        ):
            if taken >= most:
                return Refusal(
                    f"Your questions have used, or may still use, all of the {most:,.0f} {what} that a caller gets in "
                    f"{_minutes(limits.period_seconds)}. Ask again in {_minutes(left)}.",
                    left,
                )
        return None

    def _share(self, account: _Account, tokens: int | None, seconds: float) -> Share:
        limits = self._limits
        tokens_left = limits.caller_tokens - account.tokens - account.reserved_tokens
        seconds_left = limits.caller_seconds - account.seconds - account.reserved_seconds
        # Something is left for the questions that may be asked beside this one.
        fair = -(-tokens_left // (limits.caller_questions - account.questions))
        return Share(
            calls=limits.caller_calls - account.calls,
            tokens=min(fair, tokens) if tokens is not None else fair,
            seconds=min(seconds_left, seconds),
        )

    def _account(self, caller: Hashable, now: float) -> _Account:
        account = self._accounts.pop(caller, None) or _Account(now)
        if now - account.since >= self._limits.period_seconds:
            account.since, account.calls, account.tokens, account.seconds = now, 0, 0, 0.0
        self._accounts[caller] = account
        if len(self._accounts) > self._limits.callers:
            self._forget_one()
        return account

    def _forget_one(self) -> None:
        """The one that has asked nothing for the longest; never one that has a question on the way."""
        idle = next((caller for caller, account in self._accounts.items() if not account.questions), None)
        if idle is not None:
            del self._accounts[idle]


def _minutes(seconds: float) -> str:
    minutes = max(1, -(-round(seconds) // 60))
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
