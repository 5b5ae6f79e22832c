"""Driver for the official Python SDKs: tries what a server can do besides answering, and prints what was seen as one line of JSON.

Each step is given a few seconds, and one that fails does not end the others.
"""

import asyncio
import json
import sys
import warnings
from contextlib import asynccontextmanager

from mcp import StdioServerParameters, types

ORDER = json.loads(sys.argv[1])
# What a bridge with several servers puts before names.
TOOL_PREFIX, URI_PREFIX = ORDER["toolPrefix"], ORDER["uriPrefix"]
NOTE = f"{URI_PREFIX}note://one"


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def own(uri):
    return str(uri).removeprefix(URI_PREFIX)


class Talk:
    """The steps, with what differs between the SDKs left to a child."""

    def __init__(self):
        self.version = ""
        self.logs = asyncio.Queue()
        self.updates = asyncio.Queue()

    async def on_log(self, params):
        self.logs.put_nowait(f"{params.level}: {params.data}")

    async def on_message(self, message):
        message = getattr(message, "root", message)
        if getattr(message, "method", "") == "notifications/resources/updated":
            self.updates.put_nowait(own(message.params.uri))

    async def on_elicit(self, context, params):
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def on_sample(self, context, params):
        answer = types.TextContent(type="text", text="forty-two")
        return types.CreateMessageResult(role="assistant", content=answer, model="scripted")

    async def on_roots(self, context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///srv/notes")])

    async def text(self, tool, arguments=None, on_progress=None):
        """The text of a call's result, with a mark if it failed."""
        name = TOOL_PREFIX + tool
        result = plain(await self.session.call_tool(name, arguments or {}, progress_callback=on_progress))
        text = " ".join(block["text"] for block in result["content"])
        return f"failed: {text}" if result.get("isError") else text

    async def list(self):
        names = [tool.name for tool in (await self.session.list_tools()).tools]
        return sorted(name.removeprefix(TOOL_PREFIX) for name in names if name.startswith(TOOL_PREFIX))

    async def call(self):
        return await self.text("greet", {"name": "Bob"})

    async def error(self):
        return (await self.text("fail")).partition(":")[0]

    async def progress(self):
        seen = []

        async def on_progress(progress, total, message):
            seen.append(f"{progress:g}/{total:g} {message}")

        text = await self.text("count", on_progress=on_progress)
        return [*seen, text]

    async def cancel(self):
        waiting = asyncio.Event()

        async def on_progress(progress, total, message):
            waiting.set()

        call = asyncio.create_task(self.text("wait", on_progress=on_progress))
        await waiting.wait()
        await self.cancelled(call)
        return await self.text("was_cancelled")

    async def log(self):
        await self.text("log")
        return await self.logs.get()

    async def read(self):
        return [part.text for part in (await self.session.read_resource(NOTE)).contents]

    async def elicit(self):
        return await self.text("ask_name")

    async def sample(self):
        return await self.text("ask_model")

    async def roots(self):
        return await self.text("ask_roots")


async def ended(call):
    call.cancel()
    await asyncio.wait([call])


class TalkV1(Talk):
    @asynccontextmanager
    async def connected(self):
        from mcp import ClientSession
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        wire = streamable_http_client(ORDER["url"]) if ORDER["url"] else stdio_client(program())
        async with (
            wire as (read, write, *_),
            ClientSession(
                read,
                write,
                sampling_callback=self.on_sample,
                elicitation_callback=self.on_elicit,
                list_roots_callback=self.on_roots,
                logging_callback=self.on_log,
                message_handler=self.on_message,
            ) as self.session,
        ):
            self.version = (await self.session.initialize()).protocolVersion
            yield

    async def cancelled(self, call):
        # It has no function for this: the id of a request is the number of those before it.
        params = types.CancelledNotificationParams(requestId=self.session._request_id - 1)
        notification = types.CancelledNotification(params=params)
        await self.session.send_notification(types.ClientNotification(notification))
        await ended(call)

    async def subscribe(self):
        await self.session.subscribe_resource(NOTE)
        await self.text("touch")
        return await self.updates.get()


class TalkV2(Talk):
    @asynccontextmanager
    async def connected(self):
        from mcp import Client

        async with Client(
            ORDER["url"] or program(),
            mode=ORDER["mode"],
            sampling_callback=self.on_sample,
            elicitation_callback=self.on_elicit,
            list_roots_callback=self.on_roots,
            logging_callback=self.on_log,
            message_handler=self.on_message,
            log_level="info",
        ) as self.session:
            self.version = self.session.protocol_version
            yield

    async def cancelled(self, call):
        await ended(call)

    async def subscribe(self):
        if self.version < "2026":
            await self.session.subscribe_resource(NOTE)
            await self.text("touch")
            return await self.updates.get()
        async with self.session.listen(resource_subscriptions=[NOTE]) as events:
            await self.text("touch")
            return own((await anext(aiter(events))).uri)


def program():
    command, *arguments = ORDER["command"]
    return StdioServerParameters(command=command, args=arguments)


def told(exc):
    while isinstance(exc, BaseExceptionGroup):
        exc = exc.exceptions[0]
    return f"{type(exc).__name__}: {exc}"[:300]


async def main():
    talk = TalkV2() if ORDER["mode"] else TalkV1()
    seen, problems = {}, {}
    try:
        async with talk.connected():
            for step in ORDER["steps"]:
                try:
                    async with asyncio.timeout(ORDER["seconds"]):
                        seen[step] = await getattr(talk, step)()
                except Exception as exc:
                    problems[step] = told(exc)
    except Exception as exc:
        problems["connect"] = told(exc)
    print(json.dumps({"protocolVersion": talk.version, "seen": seen, "problems": problems}))


warnings.simplefilter("ignore")
asyncio.run(main())
