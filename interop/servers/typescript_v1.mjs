// A server on the official TypeScript SDK, 1.x: `stdio`, `http` (with sessions) or `stateless`, after the folder of packages.
import { createRequire } from "node:module";
import { addTools, listen } from "./offer.mjs";
import { doors } from "./sessions.mjs";

const [packages, way] = process.argv.slice(2);
// The packages live under .interop/, not above this file, where an import would look for them.
const require = createRequire(`${packages}/`);
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { z } = require("zod");

function makeServer() {
  const server = new McpServer({ name: "typescript-v1", version: "1" });
  addTools(server, z);
  return server;
}

const { withSessions, stateless } = doors(require, makeServer);
if (way === "stdio") await makeServer().connect(new StdioServerTransport());
else listen(way === "stateless" ? stateless : withSessions);
