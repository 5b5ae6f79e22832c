// The state of node and server while the page is open: told by a stream, and looked at again now and then.

import { duration } from './format.js';
import { Failure, hasLeft, nodeChanges, status } from './wire.js';

const LOOK_MS = 30_000;
const RETRY_MS = [1000, 2000, 5000, 10_000];

/** @typedef {{tone: 'good' | 'warn' | 'bad' | 'quiet', words: string, advice: string}} Verdict */
/** @typedef {Verdict & {height: number | null, program: string[], options: string[]}} State */

/** @type {State} */
let state = {
  tone: 'quiet',
  words: 'Connecting …',
  advice: '',
  height: null,
  program: ['qortal-mcp'],
  options: [],
};
const changes = new EventTarget();

export function current() {
  return state;
}

/**
 * Hear of each new state. `tip` comes when the height changes, `back` when the node can be read again.
 * @param {'state' | 'tip' | 'back'} kind
 * @param {() => void} listener
 * @param {AbortSignal} signal
 */
export function on(kind, listener, signal) {
  changes.addEventListener(kind, listener, { signal });
}

/**
 * What the readiness of a node means, in words.
 * @param {import('./wire.js').Status} found
 * @returns {Verdict}
 */
function verdict({ isReady, node: { node, height, isSynchronizing, tipAgeSeconds } }) {
  // Only the sample chain has a newest block without an age: its clock stands still.
  if (height !== null && tipAgeSeconds === undefined)
    return {
      tone: 'quiet',
      words: 'Sample chain',
      advice: 'Test data, not the real chain. Start the server with --node to read a node.',
    };
  if (height === null)
    return {
      tone: 'bad',
      words: 'Node does not answer',
      advice: `No answer from ${node}. Is Qortal Core running there, and does it allow this machine?`,
    };
  if (isSynchronizing)
    return {
      tone: 'warn',
      words: 'Node is synchronizing',
      advice: 'It is still fetching blocks, so answers are older than the chain.',
    };
  if (isReady) return { tone: 'good', words: 'In sync', advice: `${node} has the newest blocks.` };
  if (tipAgeSeconds !== undefined && tipAgeSeconds < 0)
    return {
      tone: 'warn',
      words: 'Clocks differ',
      advice: 'The newest block is from the future: the clock of this machine or of the node is wrong.',
    };
  const age = duration((tipAgeSeconds ?? 0) * 1000);
  return {
    tone: 'warn',
    words: `Behind by ${age}`,
    advice: `The newest block of ${node} is ${age} old. Check that it has peers and that its clock is right.`,
  };
}

/** @param {State} next */
function become(next) {
  const before = state;
  state = next;
  changes.dispatchEvent(new Event('state'));
  if (next.height !== null && next.height !== before.height) changes.dispatchEvent(new Event('tip'));
  if (next.height !== null && before.height === null && before.tone === 'bad')
    changes.dispatchEvent(new Event('back'));
}

/** Look at once. @param {AbortSignal} [signal] */
export async function look(signal) {
  try {
    const found = await status({ signal });
    become({ ...verdict(found), height: found.node.height, program: found.program, options: found.options });
  } catch (error) {
    if (hasLeft(error)) return;
    const words =
      error instanceof Failure && error.code === 'OFFLINE' ? 'Server does not answer' : 'Server refused';
    become({
      ...state,
      tone: 'bad',
      words,
      advice: error instanceof Error ? error.message : '',
      height: null,
    });
  }
}

/** Follow the node for as long as the page is open; a page that nobody sees holds no connection. */
export async function follow() {
  for (;;) {
    await untilVisible();
    const hidden = new AbortController();
    document.addEventListener('visibilitychange', () => hidden.abort(), { once: true });
    const clock = setInterval(() => look(hidden.signal), LOOK_MS);
    await Promise.all([look(hidden.signal), stream(hidden.signal)]);
    clearInterval(clock);
  }
}

function untilVisible() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}

/** @param {AbortSignal} signal */
async function stream(signal) {
  for (let failures = 0; !signal.aborted;) {
    try {
      for await (const _ of nodeChanges(signal)) {
        failures = 0;
        await look(signal);
      }
    } catch (error) {
      if (hasLeft(error)) return;
    }
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? LOOK_MS, signal);
    failures += 1;
    if (!signal.aborted) await look(signal);
  }
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
