// A server that talks while it works, on the official TypeScript SDK, 2.x, and speaks only 2026-07-28: `stdio` or `http`,
// after the folder of packages.
import { createRequire } from "node:module";
import { listen } from "./offer.mjs";
import { addTools, count, greeting, listed, NAME_SCHEMA, NOTE, QUESTION, SAMPLING, said, text, wait } from "./talks.mjs";

const [packages, way] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const { McpServer, createMcpHandler, inputRequired } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");
const { toNodeHandler } = require("@modelcontextprotocol/node");
const { z } = require("zod");

// What the SDK calls legacy is refused: the handshake, and requests that do not name their revision.
const ONLY_MODERN = { legacy: "reject" };
let handler;

/** Gives the client's answer to `use`, or asks for it. */
const asking = (request, use) => async (ctx) => {
  const answer = ctx.mcpReq.inputResponses?.question;
  return answer ? use(answer) : inputRequired({ inputRequests: { question: request() } });
};

function makeServer() {
  const mcp = new McpServer(
    { name: "typescript-v2", version: "1" },
    { capabilities: { logging: {}, resources: { subscribe: true } } },
  );
  addTools(mcp, z, {
    count: ({ mcpReq }) => count(mcpReq.notify, mcpReq._meta),
    wait: ({ mcpReq }) => wait(mcpReq.notify, mcpReq._meta, mcpReq.signal),
    log: async ({ mcpReq }) => {
      await mcpReq.log("warning", "be careful");
      return text("logged");
    },
    touch: async () => {
      if (handler) handler.notify.resourceUpdated(NOTE);
      else await mcp.server.sendResourceUpdated({ uri: NOTE });
      return text("touched");
    },
    ask_name: asking(() => inputRequired.elicit({ message: QUESTION, requestedSchema: NAME_SCHEMA }), greeting),
    ask_model: asking(() => inputRequired.createMessage(SAMPLING), said),
    ask_roots: asking(() => inputRequired.listRoots(), listed),
  });
  return mcp;
}

if (way === "stdio") {
  serveStdio(makeServer, ONLY_MODERN);
} else {
  handler = createMcpHandler(makeServer, ONLY_MODERN);
  listen(toNodeHandler(handler));
}
