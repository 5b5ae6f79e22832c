// A server that talks while it works, on the official TypeScript SDK, 1.x, which has a handshake: `stdio` or `http`, after
// the folder of packages.
import { createRequire } from "node:module";
import { listen } from "./offer.mjs";
import { doors } from "./sessions.mjs";
import { addTools, count, greeting, listed, NAME_SCHEMA, NOTE, QUESTION, SAMPLING, said, text, wait } from "./talks.mjs";

const [packages, way] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const types = require("@modelcontextprotocol/sdk/types.js");
const { z } = require("zod");

function makeServer() {
  const mcp = new McpServer(
    { name: "typescript-v1", version: "1" },
    { capabilities: { logging: {}, resources: { subscribe: true } } },
  );
  const { server } = mcp;
  const ask = (request, schema, { sendRequest }) => sendRequest(request, schema);
  addTools(mcp, z, {
    count: ({ sendNotification, _meta }) => count(sendNotification, _meta),
    wait: ({ sendNotification, _meta, signal }) => wait(sendNotification, _meta, signal),
    log: async (extra) => {
      const params = { level: "warning", data: "be careful" };
      await extra.sendNotification({ method: "notifications/message", params });
      return text("logged");
    },
    touch: async () => {
      await server.sendResourceUpdated({ uri: NOTE });
      return text("touched");
    },
    ask_name: async (extra) => {
      const params = { message: QUESTION, requestedSchema: NAME_SCHEMA };
      return greeting(await ask({ method: "elicitation/create", params }, types.ElicitResultSchema, extra));
    },
    ask_model: async (extra) => {
      const request = { method: "sampling/createMessage", params: SAMPLING };
      return said(await ask(request, types.CreateMessageResultSchema, extra));
    },
    ask_roots: async (extra) => listed(await ask({ method: "roots/list" }, types.ListRootsResultSchema, extra)),
  });
  server.setRequestHandler(types.SubscribeRequestSchema, async () => ({}));
  server.setRequestHandler(types.UnsubscribeRequestSchema, async () => ({}));
  return mcp;
}

if (way === "stdio") await makeServer().connect(new StdioServerTransport());
else listen(doors(require, makeServer).withSessions);
