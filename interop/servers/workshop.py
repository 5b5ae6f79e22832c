"""Stands in for the server of a workshop: JSON-RPC at POST /message, without a handshake, with both members in each reply."""

import http.server
import json
import sys

FORECAST = {"location": "Oslo", "degrees": 7, "wind": "svak bris"}
TOOLS = [
    {
        "name": "get_weather_forecast",
        "title": "Værvarsel",
        "description": "The weather of a place.",
        "inputSchema": {
            "type": "object",
            "properties": {"location": {"type": "string"}},
            "required": ["location"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"location": {"type": "string"}, "degrees": {"type": "number"}},
            "required": ["location", "degrees"],
        },
    },
    {
        "name": "get_random_fact",
        "title": "Fakta",
        "description": "Something to know.",
        "inputSchema": {"type": "object", "properties": {"category": {"type": "string"}}},
        "outputSchema": {"type": "object", "properties": {"fact": {"type": "string"}}, "required": ["fact"]},
    },
]


def failed(words):
    return {"content": [{"type": "text", "text": words}], "isError": True}


def called(params):
    if params["name"] == "get_weather_forecast":
        if "location" not in params.get("arguments", {}):
            return failed("Mangler påkrevd parameter: location")
        text = json.dumps(FORECAST, indent=2, ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}], "structuredContent": FORECAST, "isError": False}
    if params["name"] == "get_random_fact":
        return failed(json.dumps({"error": "API-nøkkel mangler"}, ensure_ascii=False))
    return failed(f"Ukjent tool: {params['name']}")


def reply_to(message):
    result = error = None
    if message["method"] == "tools/list":
        result = {"tools": TOOLS}
    elif message["method"] != "tools/call":
        error = {"code": -32601, "message": "Method not found"}
    elif "name" not in message.get("params", {}):
        error = {"code": -32602, "message": "Invalid params", "data": "name mangler"}
    else:
        result = called(message["params"])
    return {"jsonrpc": "2.0", "id": message.get("id"), "result": result, "error": error}


class Door(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path != "/message":
            return self.answer(404, {"detail": "Not Found"})
        try:
            message = json.loads(body)
            self.answer(200, reply_to(message))
        except (ValueError, LookupError, TypeError):
            self.answer(422, {"detail": [{"type": "json_invalid", "loc": ["body"]}]})

    def do_GET(self):
        self.answer(405, {"detail": "Method Not Allowed"})

    do_DELETE = do_GET

    def answer(self, status, value):
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
    print(f"Listening on http://127.0.0.1:{server.server_port}/message", file=sys.stderr, flush=True)
    server.serve_forever()
