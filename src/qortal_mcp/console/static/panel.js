// A part of a page that one tool's answer fills: loading, failing, trying again, more rows, and where it comes from.

import { announce, element, fill } from './element.js';
import { fitting } from './fitting.js';
import { grouped } from './format.js';
import { toolPage } from './links.js';
import { on } from './live.js';
import { facts, notes, origin, table, tableRow } from './readable.js';
import { print } from './json.js';
import { Failure, call, hasLeft } from './wire.js';

/** @typedef {import('./element.js').Child} Child */
/** @typedef {import('./readable.js').Row} Row */

/**
 * @template {keyof Tools} T
 * @typedef {object} Part
 * @property {string} title
 * @property {T} tool
 * @property {Tools[T]['arguments']} args
 * @property {AbortSignal} signal
 * @property {(answer: Tools[T]['answer']) => void} [onFound] called once, when there is an answer
 * @property {boolean} [follows] shown anew with each block
 * @property {boolean} [isMain] the page is about this, so it gets no heading of its own
 * @property {string} [wide] a class for its place in the grid
 */

/**
 * A section that shows what a tool answers.
 * @template {keyof Tools} T
 * @param {Part<T> & {show: (answer: Tools[T]['answer']) => Child}} part
 */
export function panel({
  title,
  tool,
  args,
  signal,
  show,
  onFound,
  follows = false,
  isMain = false,
  wide = '',
}) {
  const body = element('div', { class: 'body' }, element('p', { class: 'waiting' }, 'Loading …'));
  const source = element('footer', {});
  const section = element(
    'section',
    { class: `panel ${wide}`, 'aria-busy': 'true', 'aria-label': title },
    isMain ? null : element('h2', {}, title),
    body,
    source,
  );
  let hasFailed = false;
  let hasFound = false;

  const load = async () => {
    section.setAttribute('aria-busy', 'true');
    try {
      const answer = await call(tool, args, { signal });
      fill(body, notes(answer), show(answer));
      fill(source, sourceOf(tool, args, answer));
      hasFailed = false;
      if (!hasFound) onFound?.(answer);
      hasFound = true;
    } catch (error) {
      if (hasLeft(error)) return;
      hasFailed = true;
      fill(body, failure(error, load));
      fill(source);
    }
    section.setAttribute('aria-busy', 'false');
  };
  if (follows) on('tip', load, signal);
  on('back', () => hasFailed && load(), signal);
  load();
  return section;
}

/**
 * The call behind what is shown, one click away.
 * @param {keyof Tools} tool @param {Row} args @param {Row} answer
 */
function sourceOf(tool, args, answer) {
  return [element('a', { href: toolPage(tool, print(args)) }, tool), ` · ${origin(answer)}`];
}

/**
 * A section with what Core itself says, for a page whose tools are switched off.
 * @param {{title: string, endpoint: string, values: Row, signal: AbortSignal, more: string}} part
 */
export function corePanel({ title, endpoint, values, signal, more }) {
  return panel({
    title,
    isMain: true,
    tool: 'read_core',
    args: { endpoint, values },
    signal,
    show: ({ result }) => [
      facts(result ?? {}),
      element('p', { class: 'aside' }, `As Core tells it. ${more}`),
    ],
  });
}

/**
 * What went wrong, and a way to try again where that may help.
 * @param {unknown} error
 * @param {() => void} [again]
 */
export function failure(error, again) {
  const text = wordsFor(error);
  const mayHelp = again && error instanceof Failure && (error.retryable || error.code === '');
  if (!(error instanceof Failure)) console.error(error);
  const isMissing = error instanceof Failure && error.code === 'NOT_FOUND';
  return element(
    'div',
    { class: isMissing ? 'missing' : 'failed', role: isMissing ? null : 'alert' },
    element('p', {}, text),
    mayHelp ? element('button', { type: 'button', onclick: again }, 'Try again') : null,
  );
}

/** The state of the node is explained once, by the pill and the overview: here its first sentence is enough. @param {unknown} error */
function wordsFor(error) {
  const text = error instanceof Error ? error.message : String(error);
  const isNode = error instanceof Failure && error.code.startsWith('NODE_');
  return isNode ? (/^[^.]*\./.exec(text)?.[0] ?? text) : text;
}

/**
 * @template {keyof Tools} T
 * @template {keyof Tools[T]['answer']} N
 * @typedef {NonNullable<Tools[T]['answer'][N]> extends readonly (infer R)[] ? Extract<keyof R, string> : never} ColumnOf
 */

/**
 * A section with a list: a table that grows by one page after the other.
 * @template {keyof Tools} T
 * @template {Extract<keyof Tools[T]['answer'], string>} N
 * @param {Part<T> & {noun: N, columns: ColumnOf<T, N>[], none?: string}} part
 */
export function listPanel({ noun, columns, none = 'None.', ...part }) {
  return panel({
    ...part,
    show: (answer) => {
      const rows = /** @type {Row[]} */ (/** @type {any} */ (answer)[noun]);
      if (!rows.length) return element('p', { class: 'none' }, none);
      const made = table(part.title, rows, columns);
      return [fitting(made), moreButton(part.tool, noun, answer, made, columns, part.signal)];
    },
  });
}

/**
 * A button for the next page, as long as there is one.
 * @param {keyof Tools} tool @param {string} noun @param {Row} answer @param {HTMLTableElement} made
 * @param {readonly string[]} columns @param {AbortSignal} signal
 */
function moreButton(tool, noun, answer, made, columns, signal) {
  let next = answer.page?.next;
  if (!next) return null;
  const button = element('button', { type: 'button' }, 'Show more');
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const page = /** @type {Row} */ (await call(tool, next, { signal }));
      const rows = page[noun];
      const first = made.tBodies[0]?.rows.length ?? 0;
      made.tBodies[0]?.append(...rows.map((/** @type {Row} */ row) => tableRow(row, columns, rows)));
      announce(`${grouped(rows.length)} more rows`);
      made.tBodies[0]?.rows[first]?.querySelector('a')?.focus();
      next = page.page?.next;
      button.disabled = false;
      if (!next) button.remove();
    } catch (error) {
      if (!hasLeft(error)) button.replaceWith(failure(error));
    }
  });
  return button;
}
