// An account: what it holds, does and is called.

import { copyButton, element, fill } from '../../element.js';
import { fitting } from '../../fitting.js';
import { shortened } from '../../format.js';
import { looksLike, pageOf } from '../../links.js';
import { listPanel, panel } from '../../panel.js';
import { facts, readable, table } from '../../readable.js';
import { tabs } from '../../tabs.js';

/** @typedef {(address: string, signal: AbortSignal) => HTMLElement} PartOf */

/** @type {import('../../main.js').View} */
export const account = {
  title: ({ parts }) => `Account ${shortened(parts[0] ?? '')}`,
  show(place, { parts: [address = '', chosen = ''] }, signal) {
    if (looksLike.contract(address)) {
      location.replace(pageOf('contract', address));
      return;
    }
    const part = Object.hasOwn(PARTS, chosen) ? chosen : '';
    const rest = element('div', {});
    const showRest = () =>
      fill(rest, tabs(pageOf('account', address), NAMES, part), PARTS[part]?.(address, signal));
    fill(
      place,
      element('p', { class: 'identity' }, element('code', {}, address), copyButton(address)),
      overview(address, signal, showRest),
      rest,
    );
  },
};

const NAMES = {
  '': 'Transactions',
  trades: 'Trades',
  published: 'Published',
  groups: 'Groups',
  minting: 'Minting',
  blocks: 'Blocks',
};

/** @type {Record<string, PartOf>} */
const PARTS = {
  '': (address, signal) =>
    listPanel({
      title: 'Transactions',
      tool: 'search_transactions',
      args: { address },
      noun: 'transactions',
      columns: ['time', 'type', 'amount', 'fee', 'creatorAddress', 'recipient', 'blockHeight', 'signature'],
      none: 'This account has no transactions.',
      signal,
    }),
  trades: (address, signal) =>
    listPanel({
      title: 'Trades with other chains',
      tool: 'get_trade_ledger',
      args: { account: address },
      noun: 'trades',
      columns: ['time', 'side', 'qortAmount', 'foreignAmount', 'foreignCurrency', 'price'],
      none: 'This account has not traded.',
      signal,
    }),
  published: (address, signal) =>
    listPanel({
      title: 'Published on QDN',
      tool: 'search_qdn',
      args: { address },
      noun: 'resources',
      columns: ['time', 'serviceName', 'name', 'identifier', 'size', 'signature'],
      none: 'This account has published nothing.',
      signal,
    }),
  groups: (address, signal) =>
    listPanel({
      title: 'Groups',
      tool: 'list_groups',
      args: { member: address },
      noun: 'groups',
      columns: ['groupId', 'groupName', 'memberCount', 'isAdmin', 'isOpen', 'createdTime'],
      none: 'This account is in no group.',
      signal,
    }),
  minting: (address, signal) =>
    panel({
      title: 'Minting',
      tool: 'get_minting_profile',
      args: { address },
      signal,
      show: (answer) => readable(answer),
    }),
  blocks: (address, signal) =>
    listPanel({
      title: 'Signed blocks',
      tool: 'list_blocks',
      args: { signer: address },
      noun: 'blocks',
      columns: ['height', 'time', 'transactionCount', 'signature'],
      none: 'This account has signed no block.',
      signal,
    }),
};

/** @param {string} address @param {AbortSignal} signal @param {() => void} onFound */
function overview(address, signal, onFound) {
  return panel({
    title: 'Account',
    isMain: true,
    tool: 'get_account_overview',
    args: { address },
    signal,
    onFound,
    follows: true,
    show: (found) => [
      facts(
        found,
        /** @satisfies {(keyof typeof found)[]} */ ([
          'balance',
          'primaryName',
          'names',
          'level',
          'isFounder',
          'blocksMinted',
          'blocksMintedPenalty',
          'publicKey',
        ]),
      ),
      found.assetBalances.length > 1 ? fitting(table('Balances', found.assetBalances)) : null,
    ],
  });
}
