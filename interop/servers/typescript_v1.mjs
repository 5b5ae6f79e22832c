// A server on the official TypeScript SDK, 1.x: `stdio`, `http` (with sessions) or `stateless`, after the folder of packages.
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { addTools, listen } from "./offer.mjs";

const [packages, way] = process.argv.slice(2);
// The packages live under .interop/, not above this file, where an import would look for them.
const require = createRequire(`${packages}/`);
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { isInitializeRequest } = require("@modelcontextprotocol/sdk/types.js");
const { z } = require("zod");

function makeServer() {
  const server = new McpServer({ name: "typescript-v1", version: "1" });
  addTools(server, z);
  return server;
}

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

function refuse(response, status, message) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }));
}

// As in the examples of the SDK.
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

if (way === "stdio") await makeServer().connect(new StdioServerTransport());
else listen(way === "stateless" ? stateless : withSessions);
