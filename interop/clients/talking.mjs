// Driver for the official TypeScript SDKs: the same as talking.py.
import { createRequire } from "node:module";

const order = JSON.parse(process.argv[2]);
// The packages live under .interop/, not above this file, where an import would look for them.
const require = createRequire(`${order.packages}/`);
// What a bridge with several servers puts before names.
const { toolPrefix, uriPrefix } = order;
const NOTE = `${uriPrefix}note://one`;
const without = (prefix, name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
const options = { timeout: order.seconds * 1000 };

/** What a client answers and hears: the method, and a function of the message's params. */
const answers = {
  "elicitation/create": () => ({ action: "accept", content: { name: "Ada" } }),
  "sampling/createMessage": () => ({
    role: "assistant",
    content: { type: "text", text: "forty-two" },
    model: "scripted",
  }),
  "roots/list": () => ({ roots: [{ uri: "file:///srv/notes" }] }),
};
const heard = {
  "notifications/message": queue(({ level, data }) => `${level}: ${data}`),
  "notifications/resources/updated": queue(({ uri }) => without(uriPrefix, uri)),
};

function queue(told) {
  const waiting = [];
  const messages = [];
  return {
    put: ({ params }) => (waiting.length ? waiting.shift()(told(params)) : messages.push(told(params))),
    get: () => (messages.length ? messages.shift() : new Promise((resolve) => waiting.push(resolve))),
  };
}

const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };

function clientV1() {
  const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
  const types = require("@modelcontextprotocol/sdk/types.js");
  const client = new Client({ name: "interop", version: "1" }, { capabilities });
  const schemas = [
    types.ElicitRequestSchema,
    types.CreateMessageRequestSchema,
    types.ListRootsRequestSchema,
    types.LoggingMessageNotificationSchema,
    types.ResourceUpdatedNotificationSchema,
  ];
  for (const schema of schemas) {
    const method = schema.shape.method.value;
    if (method in answers) client.setRequestHandler(schema, async () => answers[method]());
    else client.setNotificationHandler(schema, async (message) => heard[method].put(message));
  }
  const called = (params, more) => client.callTool(params, undefined, more);
  return { client, called };
}

function clientV2() {
  const { Client } = require("@modelcontextprotocol/client");
  const mode = order.mode === "modern" ? { pin: "2026-07-28" } : "legacy";
  const client = new Client({ name: "interop", version: "1" }, { capabilities, versionNegotiation: { mode } });
  for (const [method, answer] of Object.entries(answers)) client.setRequestHandler(method, async () => answer());
  for (const [method, { put }] of Object.entries(heard)) client.setNotificationHandler(method, async (message) => put(message));
  const wanted = { "io.modelcontextprotocol/logLevel": "info" };
  const called = (params, more) =>
    client.callTool(order.mode === "modern" ? { ...params, _meta: wanted } : params, more);
  return { client, called };
}

function wire() {
  const [http, stdio] = order.mode
    ? [require("@modelcontextprotocol/client"), require("@modelcontextprotocol/client/stdio")]
    : [
        require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
        require("@modelcontextprotocol/sdk/client/stdio.js"),
      ];
  if (order.url) return new http.StreamableHTTPClientTransport(new URL(order.url));
  const [command, ...args] = order.command;
  return new stdio.StdioClientTransport({ command, args });
}

const { client, called } = order.mode ? clientV2() : clientV1();
const transport = wire();
// The client reports the negotiated version to the transport; not every transport keeps a record of it.
let protocolVersion = "";
const passOn = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  protocolVersion = version;
  passOn?.(version);
};

async function text(name, args = {}, more = {}) {
  const { isError, content } = await called({ name: toolPrefix + name, arguments: args }, { ...options, ...more });
  const words = content.map((block) => block.text).join(" ");
  return isError ? `failed: ${words}` : words;
}

const steps = {
  async list() {
    const names = (await client.listTools({}, options)).tools.map((tool) => tool.name);
    return names.filter((name) => name.startsWith(toolPrefix)).map((name) => without(toolPrefix, name)).sort();
  },
  call: () => text("greet", { name: "Bob" }),
  error: async () => (await text("fail")).split(":")[0],
  async progress() {
    const seen = [];
    const onprogress = ({ progress, total, message }) => seen.push(`${progress}/${total} ${message}`);
    const last = await text("count", {}, { onprogress });
    return [...seen, last];
  },
  async cancel() {
    const leaving = new AbortController();
    const onprogress = () => leaving.abort("enough");
    await text("wait", {}, { onprogress, signal: leaving.signal }).catch(() => {});
    return text("was_cancelled");
  },
  async log() {
    await text("log");
    return heard["notifications/message"].get();
  },
  read: async () => (await client.readResource({ uri: NOTE }, options)).contents.map((part) => part.text),
  async subscribe() {
    if (order.mode === "modern") await client.listen({ resourceSubscriptions: [NOTE] }, options);
    else await client.subscribeResource({ uri: NOTE }, options);
    await text("touch");
    return heard["notifications/resources/updated"].get();
  },
  elicit: () => text("ask_name"),
  sample: () => text("ask_model"),
  roots: () => text("ask_roots"),
};

async function bounded(step) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("nothing came in time")), order.seconds * 1000);
  });
  return Promise.race([step(), late]).finally(() => clearTimeout(timer));
}

const seen = {};
const problems = {};
const told = (error) => String(error).slice(0, 300);
try {
  await client.connect(transport, { timeout: order.startSeconds * 1000 });
  for (const step of order.steps) {
    await bounded(steps[step]).then(
      (value) => (seen[step] = value),
      (error) => (problems[step] = told(error)),
    );
  }
  await client.close();
} catch (error) {
  problems.connect = told(error);
}
if (client.getNegotiatedProtocolVersion) protocolVersion = client.getNegotiatedProtocolVersion() ?? protocolVersion;
console.log(JSON.stringify({ protocolVersion, seen, problems }));
process.exit(0);
