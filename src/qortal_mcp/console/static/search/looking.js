// Looks up everything that a text can mean, all at once, and keeps the order of likelihood.

import { meanings } from './meanings.js';
import { Failure, hasLeft } from '../wire.js';

/** @typedef {import('./finding.js').Found} Found */

/** Failures that only say "this is not it". */
const NOT_IT = ['NOT_FOUND', 'INVALID_ARGUMENT', 'REFUSED', 'NOT_SUPPORTED'];

/**
 * What there is of all that a text can mean; `onFound` hears of it as it comes.
 * @param {string} text
 * @param {AbortSignal} signal
 * @param {(found: Found[]) => void} [onFound]
 * @returns {Promise<{found: Found[], missing: string[], problem: Failure | null}>}
 */
export async function lookUp(text, signal, onFound = () => {}) {
  const asked = meanings(text);
  /** @type {Found[][]} */
  const results = asked.map(() => []);
  /** @type {Failure | null} */
  let problem = null;
  await Promise.all(
    asked.map(async ({ find }, at) => {
      try {
        results[at] = await find(signal);
        if (!signal.aborted && results[at]?.length) onFound(merged(results));
      } catch (error) {
        if (hasLeft(error)) return;
        if (!(error instanceof Failure)) throw error;
        if (!NOT_IT.includes(error.code) && !isOff(error)) problem = error;
      }
    }),
  );
  const found = merged(results);
  const missing = asked.map(({ kind }) => kind).filter((kind) => !found.some((one) => one.kind === kind));
  return { found, missing: [...new Set(missing)], problem };
}

/** A tool that this server does not offer is an unknown one to the protocol. @param {Failure} error */
function isOff(error) {
  return error.code === '-32602';
}

/** One list without the same page twice. @param {Found[][]} results */
function merged(results) {
  const seen = new Set();
  return results.flat().filter(({ href }) => !seen.has(href) && seen.add(href));
}
