// What a client of the TypeScript SDK gets from the server, as one line of JSON.
// Usage: node conversation.mjs GENERATION PLAN
// GENERATION: "1" for @modelcontextprotocol/sdk, "2" for @modelcontextprotocol/client, which speaks both revisions.
// PLAN: JSON with `era` (of generation 2) and either `url` and `token` or `command`, `args` and `env`, and the calls.

const [generation, text] = process.argv.slice(2);
const plan = JSON.parse(text);
const about = { name: "a client of the tests", version: "1" };

async function generationOne() {
  const sdk = "@modelcontextprotocol/sdk";
  const { Client } = await import(`${sdk}/client/index.js`);
  const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
  const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
  const { AjvJsonSchemaValidator } = await import(`${sdk}/validation/ajv`);
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const client = new Client(about, { jsonSchemaValidator });
  return { client, StdioClientTransport, StreamableHTTPClientTransport, validator: jsonSchemaValidator };
}

async function generationTwo() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const { AjvJsonSchemaValidator } = await import("@modelcontextprotocol/client/validators/ajv");
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const client = new Client(about, { jsonSchemaValidator, versionNegotiation: { mode: plan.era } });
  return { client, StdioClientTransport, StreamableHTTPClientTransport, validator: jsonSchemaValidator };
}

const made = await (generation === "1" ? generationOne() : generationTwo());
const client = made.client;
const transport = plan.url
  ? new made.StreamableHTTPClientTransport(new URL(plan.url), {
      requestInit: { headers: { Authorization: `Bearer ${plan.token}` } },
    })
  : new made.StdioClientTransport({ command: plan.command, args: plan.args, env: plan.env, stderr: "ignore" });

async function refused(work) {
  try {
    await work();
    return null;
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

await client.connect(transport);
const heard = { server: client.getServerVersion()?.name, instructions: client.getInstructions() };
heard.version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
heard.tools = (await client.listTools()).tools;
heard.faults = heard.tools.flatMap((tool) =>
  [tool.inputSchema, tool.outputSchema].flatMap((schema) => {
    try {
      made.validator.getValidator(schema);
      return [];
    } catch (error) {
      return [`${tool.name}: ${error.message}`];
    }
  }),
);
heard.found = await client.callTool({ name: "search_kb", arguments: { query: plan.question } });
const schema = heard.tools.find((tool) => tool.name === "search_kb").outputSchema;
const validate = made.validator.getValidator(schema);
heard.valid = validate(heard.found.structuredContent).valid;
heard.broken = validate({ ...heard.found.structuredContent, verdict: "strong" }).valid;
heard.failed = await client.callTool({ name: "read_document", arguments: { document_id: "no such document" } });
heard.resources = (await client.listResources()).resources;
heard.templates = (await client.listResourceTemplates()).resourceTemplates;
heard.read = await client.readResource({ uri: plan.resource });
heard.unread = await refused(() => client.readResource({ uri: "kb://nothing" }));
heard.prompts = (await client.listPrompts()).prompts;
heard.prompt = await client.getPrompt({ name: "answer_with_citations", arguments: { question: plan.question } });
heard.unprompted = await refused(() => client.getPrompt({ name: "no_such_prompt", arguments: {} }));
heard.half = await refused(() => client.getPrompt({ name: "answer_with_citations", arguments: {} }));
heard.odd = await refused(() => client.getPrompt({ name: "curate_queue", arguments: { tab: "all" } }));
heard.completed = await client.complete({
  ref: { type: "ref/resource", uri: "kb://documents/{document}" },
  argument: { name: "document", value: "api" },
});
await client.close();
process.stdout.write(JSON.stringify(heard));
