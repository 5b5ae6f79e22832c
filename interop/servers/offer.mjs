// What the TypeScript servers here offer: the same tools as offer.py, written as users of the library write them.
import { createServer } from "node:http";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const text = (value) => ({ content: [{ type: "text", text: value }] });

export function addTools(server, z) {
  const tool = (name, description, answer, schemas = {}) =>
    server.registerTool(name, { description, annotations: { readOnlyHint: true }, ...schemas }, answer);

  tool(
    "add",
    "Add numbers up: an object with a schema of its own.",
    async ({ numbers }) => {
      const value = { total: numbers.reduce((sum, number) => sum + number, 0), count: numbers.length };
      return { ...text(JSON.stringify(value)), structuredContent: value };
    },
    {
      inputSchema: z.object({ numbers: z.array(z.number()) }),
      outputSchema: z.object({ total: z.number(), count: z.number() }),
    },
  );
  tool("get_object", "An object as text.", async () => text(JSON.stringify({ a: 1, b: 2 })));
  tool("get_list", "A list of two texts, as text.", async () => text(JSON.stringify(["one", "two"])));
  tool("get_text", "A text.", async () => text("hello"));
  tool("get_number", "A number, as text.", async () => text("5"));
  tool("get_nothing", "Nothing at all.", async () => ({ content: [] }));
  tool("get_image", "A picture.", async () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }));
  tool("fail", "Always throws.", async () => {
    throw new Error("it did not work");
  });
}

/** Serve requests on a free port, and print the address. */
export function listen(handle) {
  const http = createServer(handle);
  http.listen(0, "127.0.0.1", () => console.error(`Listening on http://127.0.0.1:${http.address().port}/mcp`));
}
