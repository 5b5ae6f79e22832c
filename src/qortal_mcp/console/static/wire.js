// The wire: MCP over fetch in any revision, the routes that only this page uses, and the token.

import { parse, print } from './json.js';

export const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const NEWEST = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const ERROR_KEY = 'qortal-mcp/error';
const TOKEN = 'qortal-mcp-token';
const NODE = 'qortal://node';
// What a header can carry, and so all that a token can be.
const SENDABLE = /^[\x21-\x7e]+$/;
const OFFLINE = 'This server does not answer. Is it still running?';

/** A call that did not succeed: what the server or the tool says about it. */
export class Failure extends Error {
  /** @param {string} message @param {{code?: string, retryable?: boolean, status?: number}} [facts] */
  constructor(message, { code = '', retryable = false, status = 0 } = {}) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.status = status;
  }
}

/** Whether a person left while something was being fetched: nothing to tell them. @param {unknown} error */
export function hasLeft(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The address of a route of this server, wherever it is mounted. @param {string} path */
export function address(path) {
  return new URL(path, document.baseURI).href;
}

/** How the page gets a token from a person. Set once, by the page; given the server's sentence about the last one. */
export const token = {
  /** @type {(why: string) => Promise<string>} */
  ask: () => Promise.reject(new Failure('A token is needed.')),
  /** As the page itself says, so that it asks before it is refused. */
  isNeeded: document.querySelector('meta[name="needs-token"]')?.getAttribute('content') === 'yes',
  get isSet() {
    return sessionStorage.getItem(TOKEN) !== null;
  },
};
/** @type {Promise<void> | null} */
let asking = null;

/** @param {string} sent */
function newToken(sent) {
  // Many requests are refused at once; the person is asked once.
  asking ??= (async () => {
    try {
      const given = await token.ask(sent ? 'This token is not the right one.' : '');
      sessionStorage.setItem(TOKEN, given);
    } finally {
      asking = null;
    }
  })();
  return asking;
}

/**
 * Fetch from this server with the token, which is asked for when the server wants one.
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<Response>}
 */
async function reach(path, init = {}) {
  if (token.isNeeded && !token.isSet) await newToken('');
  for (;;) {
    const sent = sessionStorage.getItem(TOKEN) ?? '';
    const headers = { ...init.headers, ...(sent ? { authorization: `Bearer ${sent}` } : {}) };
    if (sent && !SENDABLE.test(sent)) {
      await newToken(sent);
      continue;
    }
    /** @type {Response} */
    let reply;
    try {
      reply = await fetch(address(path), {
        ...init,
        headers,
        credentials: 'omit',
        redirect: 'error',
        cache: 'no-store',
      });
    } catch (error) {
      if (hasLeft(error)) throw error;
      throw new Failure(OFFLINE, { code: 'OFFLINE', retryable: true });
    }
    if (reply.status !== 401) return reply;
    if (sent === (sessionStorage.getItem(TOKEN) ?? '')) await newToken(sent);
  }
}

/** @typedef {{url: string, headers: Record<string, string>, body: string}} Composed */

let lastId = 0;

/**
 * A request as it goes over the wire in one revision.
 * @param {string} method
 * @param {Record<string, unknown>} params
 * @param {string} [revision]
 * @returns {Composed}
 */
export function compose(method, params, revision = NEWEST) {
  /** @type {Record<string, string>} */
  const headers = { 'content-type': 'application/json', 'mcp-protocol-version': revision };
  let sent = params;
  if (revision === NEWEST) {
    headers.accept = 'application/json, text/event-stream';
    headers['mcp-method'] = method;
    if (typeof params.name === 'string') headers['mcp-name'] = params.name;
    const client = { name: 'qortal-mcp-console', version: '1' };
    sent = {
      ...params,
      _meta: {
        [`${META}protocolVersion`]: revision,
        [`${META}clientInfo`]: client,
        [`${META}clientCapabilities`]: {},
      },
    };
  } else {
    headers.accept = 'application/json';
  }
  lastId += 1;
  return { url: address('mcp'), headers, body: print({ jsonrpc: '2.0', id: lastId, method, params: sent }) };
}

/** @typedef {{request: Composed, status: number, headers: [string, string][], text: string, ms: number}} Exchange */

/**
 * Send a request and keep the reply as it came.
 * @param {Composed} request
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Exchange>}
 */
export async function send(request, { signal } = {}) {
  const began = performance.now();
  const reply = await reach('mcp', { method: 'POST', headers: request.headers, body: request.body, signal });
  const text = await reply.text();
  return { request, status: reply.status, headers: [...reply.headers], text, ms: performance.now() - began };
}

/**
 * The result of a reply. Throws Failure for a refusal, a JSON-RPC error or a tool that failed.
 * @param {Exchange} exchange
 * @returns {any}
 */
export function resultOf({ status, text }) {
  /** @type {any} */
  let message;
  try {
    message = parse(text);
  } catch {
    throw new Failure(text.trim().slice(0, 300) || `The server answered with status ${status}.`, { status });
  }
  if (message.error)
    throw new Failure(String(message.error.message), { code: String(message.error.code), status });
  const { result } = message;
  if (result.isError) {
    const { code = '', retryable = false } = result._meta?.[ERROR_KEY] ?? {};
    throw new Failure(String(result.content[0].text), { code, retryable, status });
  }
  return result;
}

/**
 * What a tool answers.
 * @template {keyof Tools} T
 * @param {T} tool
 * @param {Tools[T]['arguments']} args
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Tools[T]['answer']>}
 */
export async function call(tool, args, options) {
  const exchange = await send(compose('tools/call', { name: tool, arguments: args }), options);
  return resultOf(exchange).structuredContent;
}

/**
 * @typedef {object} Schema
 * @property {string | string[]} [type]
 * @property {string} [description]
 * @property {Record<string, Schema>} [properties]
 * @property {string[]} [required]
 * @property {Schema} [items]
 * @property {unknown[]} [enum]
 * @property {unknown} [default]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [maxLength]
 */
/** @typedef {{name: string, title?: string, description: string, inputSchema: Schema, outputSchema?: Schema}} Definition */

/** @type {Promise<Definition[]> | null} */
let listed = null;

/**
 * The tools of this server, asked for once.
 * @returns {Promise<Definition[]>}
 */
export function tools() {
  listed ??= allTools().catch((error) => {
    listed = null;
    throw error;
  });
  return listed;
}

async function allTools() {
  /** @type {Definition[]} */
  const found = [];
  let cursor;
  do {
    const page = resultOf(await send(compose('tools/list', cursor ? { cursor } : {})));
    found.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor && found.length < 1000);
  return found;
}

/**
 * Whether this server offers a tool.
 * @param {keyof Tools} name
 */
export async function offers(name) {
  return (await tools()).some((tool) => tool.name === name);
}

/**
 * The JSON of a route of this server. Throws Failure with its sentence if it is refused.
 * @param {string} path
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<any>}
 */
export async function getJson(path, { signal } = {}) {
  const reply = await reach(path, { signal });
  const found = bodyOf(reply.status, await reply.text());
  if (!reply.ok)
    throw new Failure(String(found.error ?? `The server answered with status ${reply.status}.`), {
      status: reply.status,
    });
  return found;
}

/** @param {number} status @param {string} text */
function bodyOf(status, text) {
  try {
    return parse(text);
  } catch {
    throw new Failure(text.trim().slice(0, 300) || `The server answered with status ${status}.`, { status });
  }
}

/**
 * The events that a POST is answered with, each as JSON. Throws Failure if there is no stream.
 * @param {string} path
 * @param {unknown} body
 * @param {{signal?: AbortSignal, headers?: Record<string, string>}} [options]
 * @returns {AsyncGenerator<any>}
 */
export async function* events(path, body, { signal, headers = {} } = {}) {
  const reply = await reach(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: typeof body === 'string' ? body : print(body),
    signal,
  });
  if (!reply.headers.get('content-type')?.startsWith('text/event-stream') || !reply.body) {
    const said = bodyOf(reply.status, await reply.text());
    const why = typeof said.error === 'string' ? said.error : said.error?.message;
    throw new Failure(String(why ?? `The server answered with status ${reply.status}.`), {
      status: reply.status,
    });
  }
  let rest = '';
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = block.split(/\r?\n/).filter((line) => line.startsWith('data:'));
        if (data.length) yield parse(data.map((line) => line.slice(5).trimStart()).join('\n'));
      }
    }
  } catch (error) {
    if (hasLeft(error)) throw error;
    throw new Failure(OFFLINE, { code: 'OFFLINE', retryable: true });
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * Yields whenever the node has a new block, or stops or starts answering.
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<void>}
 */
export async function* nodeChanges(signal) {
  const request = compose('subscriptions/listen', { notifications: { resourceSubscriptions: [NODE] } });
  for await (const message of events('mcp', request.body, { signal, headers: request.headers }))
    if (message.method === 'notifications/resources/updated') yield;
}

/**
 * @typedef {object} Status
 * @property {boolean} isReady
 * @property {{node: string, height: number | null, isSynchronizing: boolean | null, tipAgeSeconds?: number}} node
 * @property {string[]} program the program that serves, and the options that make it read the same chain
 * @property {string[]} options
 */

/**
 * Whether the chain can be read, and what the server says about it.
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Status>}
 */
export function status(options) {
  return getJson('console/status', options);
}
