"""The sample chain as a source in this process. Its answers are processed like those of a real node."""

from ..endpoints.record import Request
from ..node.source import RawReply
from .reader import answer

SAMPLE_NOTICE = "Sample data from a small test chain: not the real Qortal chain."


class SampleSource:
    origin = "sample"

    async def fetch(self, request: Request) -> RawReply:
        reply = answer(request.target)
        return RawReply(reply.status, reply.content_type, reply.body, is_sample=True)

    async def warm(self) -> None:
        answer("/admin/status")

    async def close(self) -> None:
        pass
