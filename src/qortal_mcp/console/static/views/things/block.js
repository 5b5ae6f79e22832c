// A block, by its height, its signature, or the moment it was the newest at.

import { element, fill } from '../../element.js';
import { grouped, shortened } from '../../format.js';
import { looksLike, pageOf } from '../../links.js';
import { listPanel, panel } from '../../panel.js';
import { facts } from '../../readable.js';
import { current } from '../../live.js';

/** @type {import('../../main.js').View} */
export const block = {
  title: ({ parts: [which = ''] }) =>
    `Block ${/^[0-9]+$/.test(which) ? grouped(which) : shortened(which, 16)}`,
  show(place, { parts: [which = ''] }, signal) {
    const neighbours = element('p', { class: 'neighbours' });
    const transactions = element('div', {});
    fill(
      place,
      neighbours,
      panel({
        title: 'Block',
        isMain: true,
        tool: 'get_block',
        args: argumentsFor(which),
        signal,
        show: (found) => {
          fill(neighbours, besides(found.height));
          fill(transactions, inside(found.height, signal));
          return facts(
            found,
            /** @satisfies {(keyof typeof found)[]} */ ([
              'height',
              'time',
              'transactionCount',
              'totalFees',
              'atCount',
              'atFees',
              'minterAddress',
              'minterLevel',
              'onlineAccountsCount',
              'version',
              'signature',
              'reference',
            ]),
          );
        },
      }),
      transactions,
    );
  },
};

/** @param {string} which @returns {Tools['get_block']['arguments']} */
function argumentsFor(which) {
  if (/^[0-9]{1,10}$/.test(which)) return { height: Number(which) };
  return looksLike.block(which) ? { signature: which } : { time: which };
}

/** @param {number} height */
function besides(height) {
  const tip = current().height;
  return [
    height > 1
      ? element('a', { href: pageOf('block', height - 1), rel: 'prev' }, `← ${grouped(height - 1)}`)
      : null,
    tip === null || height < tip
      ? element('a', { href: pageOf('block', height + 1), rel: 'next' }, `${grouped(height + 1)} →`)
      : null,
  ];
}

/** @param {number} height @param {AbortSignal} signal */
function inside(height, signal) {
  return listPanel({
    title: 'Transactions',
    tool: 'search_transactions',
    args: { block: String(height) },
    noun: 'transactions',
    columns: ['type', 'amount', 'fee', 'creatorAddress', 'recipient', 'signature'],
    none: 'This block has no transactions.',
    signal,
  });
}
