"""The process: a job on standard input, its outcome on standard output; exit code 1 and a reason if a reply was wrong."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from bench.load.http import HttpConnection
from bench.load.job import Job, Outcome
from bench.load.run import Run, WrongReply
from bench.load.websocket import WebSocketConnection
from bench.wire import INITIALIZE


async def perform(job: Job) -> Outcome:
    loop = asyncio.get_running_loop()
    run = Run(job)

    def connection() -> asyncio.Protocol:
        return HttpConnection(run) if job.wire == "http" else WebSocketConnection(run, INITIALIZE.encode())

    opened = [await loop.create_connection(connection, "127.0.0.1", job.port) for _ in range(job.connections)]
    try:
        return await run.finish()
    finally:
        for transport, _ in opened:
            transport.abort()


def _runner() -> Callable[[Coroutine[Any, Any, Outcome]], Outcome]:
    """uvloop if it is installed: the generator must not be the slower side."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    return uvloop.run


def main() -> int:
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    try:
        outcome = _runner()(perform(job))
    except (WrongReply, TimeoutError, OSError) as exc:
        print(f"{type(exc).__name__}: {exc}", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(msgspec.json.encode(outcome))
    return 0


if __name__ == "__main__":
    sys.exit(main())
