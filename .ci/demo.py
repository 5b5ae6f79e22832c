"""Runs scripts/demo in the folder it is started in, asks it one thing and ends it."""

import json
import signal
import subprocess
import urllib.request

ASK = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_node_status"}}


def main() -> None:
    demo = subprocess.Popen(
        ["scripts/demo", "--listen", "127.0.0.1:0"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stderr is not None
    try:
        listening = next(line for line in demo.stderr if line.startswith("Listening on "))
        request = urllib.request.Request(
            listening.split()[-1], json.dumps(ASK).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=20) as reply:
            result = json.load(reply)["result"]
        assert result["isError"] is False, result
        with urllib.request.urlopen(listening.split()[-1].removesuffix("mcp"), timeout=20) as page:
            assert b"<title>Qortal console</title>" in page.read()
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(20) == 0, f"scripts/demo ended with {demo.returncode}"
    finally:
        if demo.poll() is None:
            demo.kill()
            demo.wait()
    print(f"scripts/demo: {result['structuredContent']}")


if __name__ == "__main__":
    main()
