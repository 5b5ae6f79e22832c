"""A web server for one file, on a free port."""

import http.server
import sys
from pathlib import Path

page = Path(sys.argv[1])


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = page.read_bytes()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
    print(f"Listening on http://127.0.0.1:{server.server_port}/{page.name}", file=sys.stderr, flush=True)
    server.serve_forever()
