# mypy: ignore-errors
"""FastMCP's proxy in front of a command: `python -m bench.servers.fastmcp_proxy stdio|PORT COMMAND [ARGUMENT]...`.

The program behind is started once and kept, its fastest form.
"""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

if __name__ == "__main__":
    front, command, *arguments = sys.argv[1:]
    proxy = create_proxy(StdioTransport(command, arguments), name="proxy")
    if front == "stdio":
        proxy.run(transport="stdio", show_banner=False)
    else:
        proxy.run(
            transport="http",
            host="127.0.0.1",
            port=int(front),
            json_response=True,
            show_banner=False,
            log_level="error",
        )
