// Everything that a text can mean, and where to begin without one.

import { element, fill } from '../element.js';
import { grouped, shortened } from '../format.js';
import { callPage, looksLike, pageOf } from '../links.js';
import { current } from '../live.js';
import { failure } from '../panel.js';
import { wholeNumber } from '../search/dates.js';
import { lookUp } from '../search/looking.js';
import { Failure, call, hasLeft } from '../wire.js';

/** @typedef {import('../search/finding.js').Found} Found */

/** @type {import('../main.js').View} */
export const view = {
  title: ({ parts }) => (parts.length ? `Look up: ${parts.join('/')}` : 'Look up'),
  async show(place, { parts }, signal) {
    const text = parts.join('/');
    if (!text) {
      begin(place, signal);
      return;
    }
    const list = element('ul', { class: 'found', 'aria-busy': 'true' });
    const rest = element('div', { class: 'aside' }, 'Looking …');
    fill(place, list, rest);
    const { found, missing, problem } = await lookUp(text, signal, (some) => fill(list, some.map(row)));
    if (signal.aborted) return;
    const meant = problem ? null : theOneMeant(found);
    if (meant) {
      location.replace(meant.href);
      return;
    }
    list.setAttribute('aria-busy', 'false');
    fill(list, found.map(row));
    if (problem)
      fill(
        rest,
        failure(problem, () => view.show(place, { parts, query: new URLSearchParams() }, signal)),
      );
    else if (found.length) fill(rest, missing.length ? `Nothing else: no ${missing.join(', no ')}.` : '');
    else fill(rest, nothing(text, missing));
  },
};

/** What needs no choice: the only thing that is exactly this, or the only name that begins so. @param {Found[]} found */
function theOneMeant(found) {
  const exact = found.filter(({ isLoose }) => !isLoose);
  if (exact.length) return exact.length === 1 ? exact[0] : null;
  return found.length === 1 && found[0]?.kind === 'name' ? found[0] : null;
}

/** @param {Found} found */
function row({ kind, label, detail, href }) {
  return element(
    'li',
    {},
    element('span', { class: 'kind' }, kind),
    element('a', { href }, label),
    element('span', { class: 'detail' }, detail),
  );
}

/** @param {string} text @param {string[]} missing */
function nothing(text, missing) {
  const what = missing.length ? `Nothing found: no ${missing.join(', no ')}.` : 'Nothing found.';
  return [what, ' ', reason(text)];
}

/** Why there may be nothing, as far as the text itself tells. @param {string} text */
function reason(text) {
  const { height } = current();
  const number = wholeNumber(text);
  if (looksLike.account(text.trim()) || looksLike.contract(text.trim()))
    return 'It has the form of an address, but its checksum is wrong: one of its characters is not right.';
  if (number !== null && height !== null && number > height) return `The newest block is ${grouped(height)}.`;
  if (/^[QA][1-9A-Za-z]{20,}$/.test(text.trim()))
    return 'An address begins with Q or A and has 34 characters, without 0, O, I and l.';
  return 'Names are found by their beginning, groups and polls by any part of their name.';
}

/** @param {HTMLElement} place @param {AbortSignal} signal */
function begin(place, signal) {
  fill(
    place,
    element('p', {}, 'Type into the box above; the key / leads there. It understands:'),
    element(
      'ul',
      { class: 'hints' },
      HINTS.map(([what, example]) => hint(what, example, signal)),
    ),
    element('h2', {}, 'Or look around'),
    element(
      'ul',
      { class: 'hints' },
      AROUND.map(([words, href]) => element('li', {}, element('a', { href }, words))),
    ),
  );
}

/** A line with an example of this chain, which comes as soon as it is known. @param {string} what @param {(signal: AbortSignal) => Promise<string>} example @param {AbortSignal} signal */
function hint(what, example, signal) {
  const line = element('li', {}, what);
  example(signal).then(
    (text) => line.append(': ', element('a', { href: pageOf('search', text) }, shortened(text, 40, 8))),
    (error) => {
      if (!hasLeft(error) && !(error instanceof Failure)) throw error;
    },
  );
  return line;
}

/** @param {AbortSignal} signal */
function newestBlock(signal) {
  return call('get_block', { position: 'last' }, { signal });
}

/** Some names are only dots. @param {AbortSignal} signal */
async function plainName(signal) {
  const { names } = await call('search_names', {}, { signal });
  return (names.find(({ name }) => /^[a-z]/i.test(name)) ?? names[0])?.name ?? '';
}

/** @type {[string, (signal: AbortSignal) => Promise<string>][]} */
const HINTS = [
  ['An address or a public key', async (signal) => (await newestBlock(signal)).minterAddress ?? ''],
  ['A name, or how it begins', plainName],
  ['A height, with or without separators', async (signal) => String((await newestBlock(signal)).height)],
  [
    'A date, or a moment: the block of that time',
    async (signal) => (await newestBlock(signal)).time.slice(0, 16).replace('T', ' '),
  ],
  [
    'A signature of a transaction or a block',
    async (signal) =>
      (await call('search_transactions', { limit: 1 }, { signal })).transactions[0]?.signature ?? '',
  ],
  [
    'A group, by its number or name',
    async (signal) => (await call('list_groups', { limit: 1 }, { signal })).groups[0]?.groupName ?? '',
  ],
  [
    'A poll, with the word before its name',
    async (signal) => {
      const [newest] = (await call('list_polls', { limit: 1 }, { signal })).polls;
      return newest ? `poll ${newest.pollName}` : '';
    },
  ],
  ['Something published on QDN, as service, name and identifier', async (signal) => published(signal)],
];

/** @param {AbortSignal} signal */
async function published(signal) {
  const { resources } = await call('search_qdn', { service: 'BLOG_POST', limit: 1 }, { signal });
  const [found] = resources;
  return found
    ? [found.serviceName, found.name, found.identifier].filter(Boolean).join('/')
    : 'BLOG_POST/name/identifier';
}

/** @type {[string, string][]} */
const AROUND = [
  ['Newest blocks', callPage('list_blocks', {})],
  ['Newest transactions', callPage('search_transactions', {})],
  ['Unconfirmed transactions', callPage('search_transactions', { status: 'UNCONFIRMED' })],
  ['Who mints most', callPage('list_block_signers', {})],
  ['Names for sale', callPage('search_names', { for_sale: true })],
  ['Groups', callPage('list_groups', {})],
  ['Polls', callPage('list_polls', {})],
  ['Open trade offers', callPage('list_trade_offers', {})],
  ['Completed trades', callPage('list_completed_trades', {})],
  ['Ratings of apps', callPage('list_app_ratings', {})],
];
