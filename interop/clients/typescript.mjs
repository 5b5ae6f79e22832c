// Driver for the official TypeScript SDK, 1.x: lists all tools, calls each, prints one line of JSON.
import { createRequire } from "node:module";

const order = JSON.parse(process.argv[2]);
// The packages live under .interop/, not above this file, where an import would look for them.
const require = createRequire(`${order.packages}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { WebSocketClientTransport } = require("@modelcontextprotocol/sdk/client/websocket.js");

function connect() {
  if (order.url.startsWith("ws:")) return new WebSocketClientTransport(new URL(order.url));
  if (order.url) return new StreamableHTTPClientTransport(new URL(order.url));
  const [command, ...args] = order.command;
  return new StdioClientTransport({ command, args });
}

async function listTools(client) {
  const names = [];
  let cursor;
  do {
    const page = await client.listTools(cursor ? { cursor } : {});
    names.push(...page.tools.map((tool) => tool.name));
    cursor = page.nextCursor;
  } while (cursor);
  return names;
}

async function call(client, tool, args) {
  try {
    const { isError, content, structuredContent } = await client.callTool({ name: tool, arguments: args });
    return { tool, isError, content, structuredContent };
  } catch (error) {
    return { tool, exception: String(error) };
  }
}

const client = new Client({ name: "interop", version: "1" });
const transport = connect();
// The client reports the negotiated version to the transport; the stdio transport keeps no record of it.
let protocolVersion;
const passOn = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  protocolVersion = version;
  passOn?.(version);
};
await client.connect(transport);
const tools = await listTools(client);
const calls = [];
for (const tool of tools) calls.push(await call(client, tool, order.arguments[tool] ?? {}));
const bad = await call(client, order.bad.tool, order.bad.arguments);
await client.close();
console.log(JSON.stringify({ protocolVersion, tools, calls, bad }));
