// Driver for the official TypeScript SDK, 1.x: the same as usable.py.
import { createRequire } from "node:module";

const order = JSON.parse(process.argv[2]);
// The packages live under .interop/, not above this file, where an import would look for them.
const require = createRequire(`${order.packages}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const options = { timeout: order.seconds * 1000 };

async function tried(client, transport, seen) {
  try {
    await client.connect(transport, options);
    seen.tools = (await client.listTools({}, options)).tools.map((tool) => tool.name);
    const name = seen.tools.find((name) => name !== "ok") ?? "ok";
    seen.answer = await client.callTool({ name, arguments: {} }, undefined, options);
    await client.close();
  } catch (error) {
    seen.exception = String(error).slice(0, 300);
    await client.close().catch(() => {});
  }
}

const seen = {};
const left = [...order.servers];

async function tryOthers() {
  while (left.length > 0) {
    const [name, command, ...args] = left.shift();
    seen[name] = {};
    const client = new Client({ name: "interop", version: "1" });
    await tried(client, new StdioClientTransport({ command, args, stderr: "ignore" }), seen[name]);
  }
}

await Promise.all(Array.from({ length: order.parallel }, tryOthers));
console.log(JSON.stringify(seen));
