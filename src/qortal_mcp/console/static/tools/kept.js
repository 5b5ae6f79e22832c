// Calls that were made in this tab, and those that a person named and keeps in this browser.

import { parse } from '../json.js';
import { isArguments } from './form.js';

/** @typedef {{tool: string, args: string}} Call as JSON, so that nothing of it is lost */
/** @typedef {Call & {name: string}} KeptCall */
/** @typedef {Call & {time: number, ms: number, isGood: boolean}} MadeCall */

const KEPT = 'qortal-mcp-kept-calls';
const MADE = 'qortal-mcp-calls';
const MOST_KEPT = 100;
const MOST_MADE = 50;
const LONGEST = 100_000;

/** @param {Storage} storage @param {string} key @returns {any[]} */
function read(storage, key) {
  try {
    const found = JSON.parse(storage.getItem(key) ?? '[]');
    return Array.isArray(found) ? found.filter(isCall) : [];
  } catch {
    return [];
  }
}

/** Whatever is in the storage, only calls come out of it. @param {any} one */
function isCall(one) {
  try {
    return typeof one.tool === 'string' && isArguments(parse(one.args));
  } catch {
    return false;
  }
}

/** @param {Storage} storage @param {string} key @param {unknown[]} calls */
function write(storage, key, calls) {
  let shown = calls;
  let text = JSON.stringify(shown);
  while (text.length > LONGEST && shown.length > 1) {
    shown = shown.slice(0, -1);
    text = JSON.stringify(shown);
  }
  try {
    storage.setItem(key, text);
  } catch {
    // A full storage, or one that is switched off, must not stop anybody.
  }
}

/** @returns {KeptCall[]} */
export function keptCalls() {
  return read(localStorage, KEPT);
}

/** Newest first; a name is there once. @param {KeptCall} call */
export function keep(call) {
  const others = keptCalls().filter(({ name }) => name !== call.name);
  write(localStorage, KEPT, [call, ...others].slice(0, MOST_KEPT));
}

/** @param {string} name */
export function forget(name) {
  write(
    localStorage,
    KEPT,
    keptCalls().filter((call) => call.name !== name),
  );
}

/** @returns {MadeCall[]} */
export function madeCalls() {
  return read(sessionStorage, MADE);
}

/** @param {MadeCall} call */
export function remember(call) {
  write(sessionStorage, MADE, [call, ...madeCalls()].slice(0, MOST_MADE));
}
