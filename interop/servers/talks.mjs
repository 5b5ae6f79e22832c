// What the servers about eras have in common: the same as talks.py.
import { setTimeout as sleep } from "node:timers/promises";

export const NOTE = "note://one";
export const QUESTION = "What is your name?";
export const NAME_SCHEMA = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
export const SAMPLING = {
  messages: [{ role: "user", content: { type: "text", text: "What is six times seven?" } }],
  maxTokens: 100,
};
// How long a client waits to hear that its call was cancelled.
const CANCEL_MS = 5000;
// The TypeScript SDK, 2.x, loses progress that arrives in one piece with the answer.
const PAUSE_MS = 50;

export const text = (value) => ({ content: [{ type: "text", text: value }] });

const cancellation = new AbortController();
const isCancelled = new Promise((resolve) => cancellation.signal.addEventListener("abort", resolve));

/** Tools that need nothing of their library; the others come in `talking`, each with a function of the call's context. */
export function addTools(server, z, talking) {
  const described = (name) => ({ description: `Does ${name.replace("_", " ")}.` });
  server.registerTool("greet", { ...described("greet"), inputSchema: z.object({ name: z.string() }) }, async ({ name }) =>
    text(`Hello, ${name}!`),
  );
  server.registerTool("fail", described("fail"), async () => {
    throw new Error("it did not work");
  });
  server.registerTool("was_cancelled", described("was_cancelled"), async () => {
    const tooLate = sleep(CANCEL_MS, "late", { ref: false });
    return text((await Promise.race([isCancelled, tooLate])) === "late" ? "not cancelled" : "cancelled");
  });
  for (const [name, answer] of Object.entries(talking)) server.registerTool(name, described(name), answer);
  server.registerResource("note", NOTE, { mimeType: "text/plain" }, async () => ({
    contents: [{ uri: NOTE, mimeType: "text/plain", text: "first note" }],
  }));
}

/** Reports progress for a call with `notify`, if its client asked for that. */
export async function report(notify, meta, progress, more = {}) {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return;
  await notify({ method: "notifications/progress", params: { progressToken, progress, ...more } });
}

export async function count(notify, meta) {
  for (const number of [1, 2]) {
    await report(notify, meta, number, { total: 2, message: `${number} of 2` });
    await sleep(PAUSE_MS);
  }
  return text("counted");
}

export async function wait(notify, meta, signal) {
  await report(notify, meta, 0);
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  cancellation.abort();
  return text("never read");
}

export const greeting = ({ action, content }) => text(action === "accept" ? `Hello, ${content.name}!` : action);
export const said = ({ content }) => text(`The model says ${content.text}`);
export const listed = ({ roots }) => text(roots.map((root) => root.uri).join(" "));
