// The conversation of this tab: kept over a reload, bounded, and what of it goes with the next question.

import { parse, print } from '../json.js';

/** @typedef {{tool: string, arguments: any, ok: boolean, text: string, round?: number, ms?: unknown, bytes?: number, warnings?: string[], written?: boolean, repeated?: boolean}} Call */
/** @typedef {{tool: string, server: string, time: string, node?: string, height?: number, asOf?: string, isSynchronizing?: boolean}} Source */
/** @typedef {{text: string, kind: string, start: number, end: number, calls?: number[]}} TracedClaim */
/** @typedef {{text: string, kind: string, start: number, end: number, inQuestion?: boolean}} UnfoundClaim */
/** @typedef {{checked: number, isPartial?: boolean, fromCalls: TracedClaim[], notFromATool: UnfoundClaim[]}} Grounding */
/** @typedef {{promptTokens: number, completionTokens: number, isEstimated: boolean, rounds: number, ms: unknown}} Spent */
/**
 * A question and what came of it, as the server says at the end.
 * @typedef {object} Run
 * @property {string} question
 * @property {string} answer
 * @property {Call[]} calls
 * @property {Source[]} sources
 * @property {Grounding} grounding
 * @property {string[]} notices
 * @property {string} problem
 * @property {string} ended
 * @property {string} model
 * @property {string} endpoint
 * @property {Spent | null} spent
 */
/** @typedef {{question: string, answer: string, results: string[]}} Turn */

const KEY = 'qortal-mcp-conversation';
// A browser keeps some five million characters for a tab.
const MOST_KEPT_CHARS = 1_500_000;
const MOST_SENT_BYTES = 256 * 1024;
const MOST_TURNS = 100;
// Of a question that did not end by itself.
const STOPPED = 'stopped';

/**
 * A question that was stopped, with what was there by then.
 * @param {Pick<Run, 'question' | 'answer' | 'calls' | 'notices' | 'problem'>} known
 * @returns {Run}
 */
export function stopped(known) {
  const grounding = { checked: 0, fromCalls: [], notFromATool: [] };
  return { ...known, sources: [], grounding, ended: STOPPED, model: '', endpoint: '', spent: null };
}

/** @param {Run} run */
export function wasStopped(run) {
  return run.ended === STOPPED;
}

/** @returns {Run[]} */
export function remembered() {
  try {
    const kept = parse(sessionStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isRun) : [];
  } catch {
    return [];
  }
}

/** Whether it was written by a page like this one, so that it can be shown. @param {any} kept */
function isRun(kept) {
  return (
    [kept?.question, kept?.answer, kept?.problem, kept?.ended, kept?.model].every(isText) &&
    isListOf(kept.calls, isCall) &&
    isListOf(kept.sources, isSource) &&
    isListOf(kept.notices, isText) &&
    isListOf(kept.grounding?.fromCalls, isClaim) &&
    isListOf(kept.grounding?.notFromATool, isClaim) &&
    typeof kept.grounding.checked === 'number' &&
    (kept.spent === null || isSpent(kept.spent))
  );
}

/** @param {any} call */
function isCall(call) {
  return (
    isText(call?.tool) &&
    isText(call.text) &&
    call.arguments !== undefined &&
    isListOf(call.warnings ?? [], isText) &&
    typeof (call.bytes ?? 0) === 'number'
  );
}

/** @param {any} source */
function isSource(source) {
  return (
    [source?.tool, source?.node ?? '', source?.asOf ?? ''].every(isText) &&
    typeof (source.height ?? 0) === 'number'
  );
}

/** @param {any} claim */
function isClaim(claim) {
  return (
    isText(claim?.text) &&
    [claim.start, claim.end].every(Number.isSafeInteger) &&
    isListOf(claim.calls ?? [], Number.isSafeInteger)
  );
}

/** @param {any} spent */
function isSpent(spent) {
  return [spent?.promptTokens, spent?.completionTokens, spent?.rounds].every(Number.isSafeInteger);
}

/** @param {unknown} value */
function isText(value) {
  return typeof value === 'string';
}

/** @param {unknown} list @param {(item: any) => boolean} isOne */
function isListOf(list, isOne) {
  return Array.isArray(list) && list.every((item) => isOne(item));
}

/** Keep the newest runs that there is room for. @param {Run[]} runs */
export function remember(runs) {
  const texts = runs.slice(-MOST_TURNS).map((run) => print(run));
  while (texts.reduce((sum, text) => sum + text.length, 0) > MOST_KEPT_CHARS) texts.shift();
  try {
    sessionStorage.setItem(KEY, `[${texts.join(',')}]`);
  } catch {
    sessionStorage.removeItem(KEY); // no room: the page goes on without it
  }
}

/**
 * What the next question takes with it: the newest questions that fit, oldest first. Results go before questions do.
 * @param {Run[]} runs
 * @returns {Turn[]}
 */
export function sentTurns(runs) {
  /** @type {Turn[]} */
  const sent = [];
  let left = MOST_SENT_BYTES;
  for (const run of runs
    .filter((one) => one.answer && !wasStopped(one))
    .slice(-MOST_TURNS)
    .reverse()) {
    const { question, answer } = run;
    const results = [...new Set(run.calls.map((call) => call.text))];
    let turn = { question, answer, results };
    if (bytes(turn) > left) turn = { question, answer, results: [] };
    left -= bytes(turn);
    if (left < 0) break;
    sent.unshift(turn);
  }
  return sent;
}

/** @param {Turn} turn */
function bytes(turn) {
  return new TextEncoder().encode(print(turn)).length;
}
