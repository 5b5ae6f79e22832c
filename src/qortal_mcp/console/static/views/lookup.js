// Everything that a text can mean, and where to begin without one.

import { element, fill } from '../element.js';
import { callPage } from '../links.js';
import { lookUp } from '../looking.js';
import { failure } from '../panel.js';

/** @type {import('../main.js').View} */
export const view = {
  title: ({ parts }) => (parts.length ? `Look up: ${parts.join('/')}` : 'Look up'),
  async show(place, { parts }, signal) {
    const text = parts.join('/');
    if (!text) {
      fill(place, begin());
      return;
    }
    const list = element('ul', { class: 'found', 'aria-busy': 'true' });
    const rest = element('p', { class: 'aside' }, 'Looking …');
    fill(place, list, rest);
    const { found, missing, problem } = await lookUp(text, signal, (some) => fill(list, some.map(row)));
    if (signal.aborted) return;
    const [only, ...others] = found;
    if (only && !others.length && !problem) {
      location.replace(only.href);
      return;
    }
    list.setAttribute('aria-busy', 'false');
    fill(list, found.map(row));
    if (found.length) fill(rest, missing.length ? `Nothing else: no ${missing.join(', no ')}.` : '');
    else fill(rest, problem ? failure(problem) : nothing(missing));
  },
};

/** @param {import('../meanings.js').Found} found */
function row({ kind, label, detail, href }) {
  return element(
    'li',
    {},
    element('span', { class: 'kind' }, kind),
    element('a', { href }, label),
    element('span', { class: 'detail' }, detail),
  );
}

/** @param {string[]} missing */
function nothing(missing) {
  const what = missing.length
    ? `Nothing found: no ${missing.join(', no ')}.`
    : 'This looks like nothing that a chain has.';
  return [
    what,
    ' An address has 34 characters and begins with Q or A, a signature has about 88. Names are matched from their beginning.',
  ];
}

function begin() {
  return [
    element('p', {}, 'Type into the box above (the key / leads there):'),
    element(
      'ul',
      { class: 'hints' },
      HINTS.map(([what, example]) => element('li', {}, `${what}: `, element('code', {}, example))),
    ),
    element('h2', {}, 'Or look around'),
    element(
      'ul',
      { class: 'hints' },
      AROUND.map(([words, href]) => element('li', {}, element('a', { href }, words))),
    ),
  ];
}

const HINTS = [
  ['An address or a public key', 'QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v'],
  ['A name, or how it begins', 'alice'],
  ['A height, with or without separators', '12,345'],
  ['A date or a time: the block of that moment', '2026-11-15 19:15'],
  ['A signature of a block or a transaction', '4yfhViFn…'],
  ['A group or a poll, by number or name', 'group 3'],
  ['Something published on QDN', 'BLOG/alice-test/post-1'],
];

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
