// What a person may mean by a text in the search box.

import { momentOf, wholeNumber } from './dates.js';
import {
  accountOf,
  assetOf,
  blockBy,
  blockOf,
  blocksOfDay,
  groupOf,
  groupsNamed,
  holderOf,
  nameOf,
  namesFrom,
  pollsNamed,
  resourceOf,
  tradeOf,
  transactionOf,
} from './finding.js';
import { looksLike, pageOf } from '../links.js';

/** @typedef {import('./finding.js').Found} Found */

/** @typedef {{kind: string, find: (signal: AbortSignal) => Promise<Found[]>}} Meaning */

// Kinds that can be named before the rest: "group 12", "name:bob".
const NAMED_KIND = /^(block|transaction|account|name|group|asset|poll|resource)[\s:]+(.+)$/is;
const RESOURCE = /^(?:qortal:\/\/)?([A-Z][A-Z0-9_]{2,})\/([^/]+)(?:\/(.+))?$/;

/**
 * Everything that a text can mean, the likeliest first.
 * @param {string} written
 * @returns {Meaning[]}
 */
export function meanings(written) {
  const [, named = '', rest = written] = NAMED_KIND.exec(written.trim()) ?? [];
  const text = rest.trim().replace(/^@/, '');
  const all = [...byDate(text), ...byNumber(text), ...byLook(text.replace(/\s+/g, '')), ...byWords(text)];
  const kind = named.toLowerCase();
  const fitting = all.filter((meaning) => meaning.kind === kind);
  return fitting.length ? fitting : all;
}

/** @param {string} text @returns {Meaning[]} */
function byDate(text) {
  const moment = momentOf(text);
  if (moment === null) return [];
  const { time, isDay } = moment;
  return [meaning('block', (signal) => (isDay ? blocksOfDay(time, signal) : blockBy(time, signal)))];
}

/** @param {string} text @returns {Meaning[]} */
function byNumber(text) {
  const number = wholeNumber(text);
  if (number === null || number > 2 ** 31) return [];
  return [
    ...(number > 0 ? [meaning('block', (signal) => blockOf({ height: number }, signal))] : []),
    ...(number > 0 ? [meaning('group', (signal) => groupOf(number, signal))] : []),
    meaning('asset', (signal) => assetOf(number, signal)),
  ];
}

/** @param {string} text @returns {Meaning[]} */
function byLook(text) {
  /** @type {Meaning[]} */
  const found = [];
  if (looksLike.account(text)) found.push(meaning('account', (signal) => accountOf(text, signal)));
  if (looksLike.contract(text)) {
    found.push(meaning('trade', (signal) => tradeOf(text, signal)));
    found.push(
      meaning('contract', async () => [
        { kind: 'contract', label: text, detail: '', href: pageOf('contract', text) },
      ]),
    );
  }
  if (looksLike.transaction(text))
    found.push(meaning('transaction', (signal) => transactionOf(text, signal)));
  if (looksLike.block(text)) found.push(meaning('block', (signal) => blockOf({ signature: text }, signal)));
  if (looksLike.publicKey(text)) found.push(meaning('account', (signal) => holderOf(text, signal)));
  return found;
}

/** @param {string} text @returns {Meaning[]} */
function byWords(text) {
  if (!text || text.length > 100) return [];
  const resource = RESOURCE.exec(text);
  return [
    ...(resource
      ? [
          meaning('resource', (signal) =>
            resourceOf(resource[1] ?? '', resource[2] ?? '', resource[3], signal),
          ),
        ]
      : []),
    meaning('name', (signal) => nameOf(text, signal)),
    meaning('name', (signal) => namesFrom(text, signal)),
    meaning('group', (signal) => groupsNamed(text, signal)),
    meaning('poll', (signal) => pollsNamed(text, signal)),
  ];
}

/** @param {string} kind @param {Meaning['find']} find @returns {Meaning} */
function meaning(kind, find) {
  return { kind, find };
}
