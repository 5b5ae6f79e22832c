"""A server on stdio that answers wrongly: its tools return bare values. One of them reports a failure."""

import json
import sys
from typing import Any

LOOK = {"name": "look", "inputSchema": {"type": "object"}}
FAIL = {"name": "fail", "inputSchema": {"type": "object"}}


def answer(message: dict[str, Any]) -> Any:
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        info = {"name": "bare", "version": "0"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [LOOK, FAIL]}
    if method == "tools/call" and params["name"] == "fail":
        return {"content": [{"type": "text", "text": "no"}], "isError": True}
    return {"number": 5} if method == "tools/call" else {}


for line in sys.stdin:
    received = json.loads(line)
    if "id" in received:
        reply = {"jsonrpc": "2.0", "id": received["id"], "result": answer(received)}
        print(json.dumps(reply), flush=True)
