"""A server in a process of its own that writes down what it receives: `noting.py LOG [ws|http PORT]`, else on stdio.

It keeps no state that outlives it, so that killing it loses everything a real one would lose. Every line of the log is
`PID<tab>message`, written at once; messages are the request as it came, or DELETE and the session's id.
"""

import asyncio
import json
import os
import secrets
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Json = dict[str, Any]
Send = Callable[[Json], Awaitable[None]]
LOG = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
CAPABILITIES: Json = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True},
    "logging": {},
}
TOOLS: dict[str, Json] = {
    "note": {},
    "look": {"readOnlyHint": True},
    "again": {"idempotentHint": True},
    "die": {},
    "die_looking": {"readOnlyHint": True},
    "hang": {},
    "late": {},
    "flood": {},
    "ask": {},
    "tell": {},
    "change": {},
    "deafen": {},
    "misfit": {"readOnlyHint": True},
}
NUMBER = {"type": "object", "properties": {"value": {"type": "number"}}, "required": ["value"]}


def note(what: str) -> None:
    os.write(LOG, f"{os.getpid()}\t{what}\n".encode())


class Talk:
    """One connection or session."""

    def __init__(self) -> None:
        self.asked: dict[Any, asyncio.Future[Json]] = {}
        self.more: list[str] = []
        self.is_deaf = False

    async def take(self, message: Json, send: Send) -> None:
        method, id_ = message.get("method"), message.get("id")
        if method is None:
            if id_ in self.asked:
                self.asked[id_].set_result(message)
            return
        note(json.dumps(message))
        if id_ is None:
            return
        try:
            result = await self.answer(method, message.get("params") or {}, message, send)
        except LookupError:
            error = {"code": -32601, "message": f"Method not found: {method}"}
            await send({"jsonrpc": "2.0", "id": id_, "error": error})
            return
        await send({"jsonrpc": "2.0", "id": id_, "result": result})

    async def answer(self, method: str, params: Json, message: Json, send: Send) -> Json:
        if method == "initialize":
            info = {"name": "noting", "version": "1"}
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": CAPABILITIES,
                "serverInfo": info,
            }
        if method == "tools/list":
            return {"tools": [self.tool(name) for name in [*TOOLS, *self.more]]}
        if method in ("resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping"):
            return {}
        if method == "resources/list":
            return {"resources": [{"uri": "memo:1", "name": "memo"}]}
        if method == "resources/read":
            return {"contents": [{"uri": params["uri"], "text": "memo"}]}
        if method != "tools/call":
            raise LookupError
        name, arguments = params["name"], params.get("arguments") or {}
        said = await getattr(self, f"do_{name}", self.do_note)(arguments, params, message, send)
        if name == "misfit":
            return {"content": [{"type": "text", "text": said}], "structuredContent": {"value": "none"}}
        return {"content": [{"type": "text", "text": said}]}

    @staticmethod
    def tool(name: str) -> Json:
        listed = {"name": name, "inputSchema": {"type": "object"}, "annotations": TOOLS.get(name, {})}
        return {**listed, "outputSchema": NUMBER} if name == "misfit" else listed

    async def do_note(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        return str(arguments.get("n", ""))

    async def do_die(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        for line in arguments.get("say", ["the disk is full"]):
            print(line, file=sys.stderr, flush=True)
        os._exit(7)

    do_die_looking = do_die

    async def do_hang(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        await asyncio.Event().wait()
        return "never"

    async def do_late(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        await asyncio.sleep(arguments["seconds"])
        return str(arguments.get("n", ""))

    async def do_flood(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        """Log messages, or progress if the call has a token; with `outside`, after the answer."""
        token = (params.get("_meta") or {}).get("progressToken")
        text = "x" * arguments["size"]

        async def flood() -> None:
            for number in range(arguments["messages"]):
                if token is None:
                    body: Json = {"level": "info", "data": text, "logger": str(number)}
                    await send({"jsonrpc": "2.0", "method": "notifications/message", "params": body})
                else:
                    body = {"progressToken": token, "progress": number, "message": text}
                    await send({"jsonrpc": "2.0", "method": "notifications/progress", "params": body})

        if arguments.get("outside"):
            self.flooding = asyncio.get_running_loop().create_task(flood())
        else:
            await flood()
        return "flooded"

    async def do_ask(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        """Asks the client something, and answers with what it said; with `outside`, asks after the answer."""
        id_ = f"ask {len(self.asked)}"
        reply = self.asked[id_] = asyncio.get_running_loop().create_future()

        async def ask() -> str:
            asked = {"messages": [], "maxTokens": 1, "metadata": arguments}
            await send({"jsonrpc": "2.0", "id": id_, "method": "sampling/createMessage", "params": asked})
            said = json.dumps(await reply)
            note(said)
            return said

        if arguments.get("outside"):
            self.asking = asyncio.get_running_loop().create_task(ask())
            return "later"
        return await ask()

    async def do_tell(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        """Sends any notification."""
        await send({"jsonrpc": "2.0", "method": arguments["method"], "params": arguments.get("params", {})})
        return "told"

    async def do_change(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        self.more.append(arguments["name"])
        await send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return "changed"

    async def do_deafen(self, arguments: Json, params: Json, message: Json, send: Send) -> str:
        self.is_deaf = True
        return "deaf"


async def stdio() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    out, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(out, protocol, None, loop)
    talk = Talk()
    tasks = set()

    async def send(message: Json) -> None:
        writer.write(json.dumps(message).encode() + b"\n")
        await writer.drain()

    while not talk.is_deaf and (line := await reader.readline()):
        task = loop.create_task(talk.take(json.loads(line), send))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(0)
    if talk.is_deaf:
        await asyncio.Event().wait()


async def served(kind: str, port: int) -> None:
    from aiohttp import web

    sessions: dict[str, Talk] = {}

    async def websocket(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=("mcp",), max_msg_size=0)
        await socket.prepare(request)
        talk, tasks = Talk(), set()

        async def send(message: Json) -> None:
            await socket.send_str(json.dumps(message))

        async for frame in socket:
            if frame.type is web.WSMsgType.TEXT:
                task = asyncio.get_running_loop().create_task(talk.take(json.loads(frame.data), send))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        note(f"closed {socket.close_code}")
        for task in list(tasks):
            task.cancel()
        return socket

    async def http(request: web.Request) -> web.StreamResponse:
        session = request.headers.get("mcp-session-id")
        if request.method == "GET":
            return web.Response(status=405)
        if request.method == "DELETE":
            note(f"DELETE {session}")
            return web.Response(status=200 if sessions.pop(session or "", None) else 404)
        message = json.loads(await request.text())
        if message.get("method") == "initialize":
            session = secrets.token_hex(8)
            sessions[session] = Talk()
        if session not in sessions:
            return web.Response(status=404)
        if "id" not in message or "method" not in message:
            await sessions[session].take(message, quiet)
            return web.Response(status=202)
        stream = web.StreamResponse(headers={"content-type": "text/event-stream", "mcp-session-id": session})
        await stream.prepare(request)

        async def send(message: Json) -> None:
            await stream.write(b"data: %b\n\n" % json.dumps(message).encode())

        await sessions[session].take(message, send)
        return stream

    async def quiet(message: Json) -> None:
        raise AssertionError("a notification has no answer")

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", websocket if kind == "ws" else http)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    note("listening")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(stdio() if len(sys.argv) < 3 else served(sys.argv[2], int(sys.argv[3])))
