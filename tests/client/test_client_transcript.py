"""The transcript: bounded, in order, and awaited without polling."""

import asyncio

from qortal_mcp.client import Record, Transcript
from qortal_mcp.client.transcript import Recorder, TranscriptLimits


def record(data: bytes, kind: str = "message", direction: str = "received") -> Record:
    return Record(direction=direction, kind=kind, data=data, at=0.0)  # type: ignore[arg-type]


def test_the_oldest_records_go_when_there_are_too_many() -> None:
    transcript = Transcript(TranscriptLimits(records=3, bytes=1000))
    for number in range(5):
        transcript(record(b"%d" % number))
    assert transcript.messages("received") == [b"2", b"3", b"4"]
    assert (transcript.dropped, transcript.count, len(transcript)) == (2, 5, 3)


def test_the_oldest_records_go_when_they_are_too_large() -> None:
    transcript = Transcript(TranscriptLimits(records=100, bytes=10))
    for data in (b"aaaa", b"bbbb", b"cccc"):
        transcript(record(data))
    assert transcript.messages("received") == [b"bbbb", b"cccc"]


def test_a_mark_divides_before_from_after_even_when_records_were_dropped() -> None:
    transcript = Transcript(TranscriptLimits(records=2, bytes=1000))
    transcript(record(b"a"))
    mark = transcript.count
    for data in (b"b", b"c", b"d"):
        transcript(record(data))
    assert transcript.messages("received", since=mark) == [b"c", b"d"]
    assert transcript.messages("received", since=transcript.count) == []


async def test_waiting_finds_what_is_there_what_comes_and_gives_up() -> None:
    transcript = Transcript()
    transcript(record(b"a"))

    def is_b(found: Record) -> bool:
        return found.data == b"b"

    assert await transcript.wait_for(lambda found: found.data == b"a", 1) is not None
    waiting = asyncio.create_task(transcript.wait_for(is_b, 5))
    await asyncio.sleep(0)
    transcript(record(b"b"))
    found = await waiting
    assert found is not None
    assert await transcript.wait_for(is_b, 0.01, since=transcript.count) is None


def test_records_carry_the_time_they_were_made() -> None:
    kept: list[Record] = []
    Recorder(kept.append, clock=lambda: 12.5).note("sent", "message", b"x")
    Recorder(None).note("sent", "message", b"x")
    assert [(found.at, found.direction, found.data) for found in kept] == [(12.5, "sent", b"x")]
