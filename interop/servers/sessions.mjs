// Sessions over HTTP with the official TypeScript SDK, 1.x, as in its examples.
import { randomUUID } from "node:crypto";

/** Two handlers of requests: one that keeps sessions, and one that makes a server for each request. */
export function doors(require, makeServer) {
  const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const { isInitializeRequest } = require("@modelcontextprotocol/sdk/types.js");
  const sessions = new Map();

  async function opened(sessionIdGenerator) {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator,
      onsessioninitialized: (id) => sessions.set(id, transport),
      onsessionclosed: (id) => sessions.delete(id),
    });
    await makeServer().connect(transport);
    return transport;
  }

  async function isOpening(request) {
    try {
      return isInitializeRequest((request.body = JSON.parse(Buffer.concat(await request.toArray()))));
    } catch {
      return false;
    }
  }

  async function withSessions(request, response) {
    const id = request.headers["mcp-session-id"];
    if (sessions.has(id)) return sessions.get(id).handleRequest(request, response);
    if (id) return refuse(response, 404, "Session not found");
    if (!(await isOpening(request))) return refuse(response, 400, "Bad Request: No valid session ID provided");
    await (await opened(randomUUID)).handleRequest(request, response, request.body);
  }

  async function stateless(request, response) {
    if (request.method !== "POST") return refuse(response, 405, "Method not allowed.");
    const transport = await opened(undefined);
    response.on("close", () => transport.close());
    await transport.handleRequest(request, response);
  }

  return { withSessions, stateless };
}

function refuse(response, status, message) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }));
}
