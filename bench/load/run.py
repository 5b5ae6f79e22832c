"""One running job: what is still to be sent, whether a reply is right, and when all replies are in."""

import asyncio
import secrets
import time
from collections.abc import Callable

from bench.addresses import addresses
from bench.load.job import VARYING, Job, Outcome


class WrongReply(Exception):
    """A server gave the wrong answer."""


class Run:
    """Shared by the connections of one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._to_send = job.requests
        self._missing = job.requests
        self._marks = [mark.encode() for mark in job.marks]
        self._is_varied = job.varying != "nothing"
        self._is_same = job.is_same and job.varying != "address"
        self._first: bytes | None = None
        self._addresses = addresses(job.seed)
        # For connections in step: those that wait for the others, and what all of them send.
        self._waiting: list[Callable[[], None]] = []
        self._value_in_step = ""
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._started = time.perf_counter()

    def may_send(self) -> bool:
        """Take one of the requests that are left."""
        self._to_send -= 1
        return self._to_send >= 0

    def fill(self, template: bytes) -> bytes:
        """A request as it goes out."""
        if not self._is_varied:
            return template
        value = self._value_in_step or self._next_value()
        return template.replace(VARYING.encode(), value.encode())

    def _next_value(self) -> str:
        return next(self._addresses) if self.job.varying == "address" else secrets.token_hex(17)

    def in_turn(self, send: Callable[[], None]) -> None:
        """Send the next request, if there is one: now, or in step with the other connections."""
        self._waiting.append(send)
        if self.job.in_step:
            if len(self._waiting) < self.job.connections:
                return
            self._value_in_step = self._next_value()
        ready, self._waiting = self._waiting, []
        for send_now in ready:
            if self.may_send():
                send_now()

    def took(self, reply: bytes) -> None:
        """A reply is in. Raises: WrongReply."""
        if self._first is None:
            self._first = reply
        if not (self._is_same and reply == self._first) or self._missing == self.job.requests:
            self._check(reply)
        self._missing -= 1
        if self._missing == 0 and not self._done.done():
            self._done.set_result(None)

    def _check(self, reply: bytes) -> None:
        if self._is_same and reply != self._first:
            raise WrongReply(f"differs from the first: {reply[:300]!r}")
        for mark in self._marks:
            if mark not in reply:
                raise WrongReply(f"without {mark!r}: {reply[:300]!r}")

    def fail(self, error: Exception) -> None:
        if not self._done.done():
            self._done.set_exception(error)

    def _stay_awake(self) -> None:
        """Poll instead of sleeping: waking this process would be charged to the server, and more to a slower one."""
        if not self._done.done():
            asyncio.get_running_loop().call_soon(self._stay_awake)

    async def finish(self) -> Outcome:
        self._stay_awake()
        async with asyncio.timeout(self.job.at_most_seconds):
            await self._done
        seconds = time.perf_counter() - self._started
        assert self._first is not None, "a job has at least one request"
        return Outcome(requests=self.job.requests, seconds=seconds, first_reply=self._first.decode())


def filled_length(template: bytes) -> int:
    """The length of a body whose placeholder is filled: every value has 34 characters."""
    return len(template.replace(VARYING.encode(), b"x" * 34))
