// A server on the official TypeScript SDK, 2.x: `stdio` or `http`, after the folder of packages.
import { createRequire } from "node:module";
import { addTools, listen } from "./offer.mjs";

const [packages, way] = process.argv.slice(2);
// The packages live under .interop/, not above this file, where an import would look for them.
const require = createRequire(`${packages}/`);
const { McpServer, createMcpHandler } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");
const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = require("@modelcontextprotocol/node");
const { z } = require("zod");

function makeServer() {
  const server = new McpServer({ name: "typescript-v2", version: "1" });
  addTools(server, z);
  return server;
}

if (way === "stdio") {
  serveStdio(makeServer);
} else {
  const handle = toNodeHandler(createMcpHandler(makeServer));
  const isOurHost = localhostHostValidation();
  const isOurPage = localhostOriginValidation();
  listen((request, response) => {
    if (isOurHost(request, response) && isOurPage(request, response)) handle(request, response);
  });
}
