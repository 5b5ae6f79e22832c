"""A bare client of a model's endpoint: `python -m bench.bare_chat BASE_URL` posts one completion and prints the reply."""

import asyncio
import sys

import aiohttp


async def main(base_url: str) -> None:
    body = {
        "model": "bench",
        "stream": True,
        "messages": [{"role": "user", "content": "How high is the chain?"}],
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{base_url}/chat/completions", json=body) as reply,
    ):
        print(await reply.text())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
