// Whether the chain has what a person may mean, and what it is called there.

import { ago, grouped, shortened, when } from '../format.js';
import { looksLike, pageOf } from '../links.js';
import { Failure, call, offers } from '../wire.js';

/**
 * @typedef {object} Found
 * @property {string} kind
 * @property {string} label
 * @property {string} detail
 * @property {string} href
 * @property {boolean} [isLoose] it only resembles what was typed
 */

const DAY_MS = 86_400_000;
const SUGGESTED_NAMES = 6;
const SUGGESTED_OTHERS = 3;
// Lists without a search of their own are read page by page, so far.
const LISTED_PAGES = 10;

/** @typedef {Tools['get_block']['answer']} Block */

/** @param {number} height @param {string} detail @returns {Found} */
function foundBlock(height, detail) {
  return { kind: 'block', label: `Block ${grouped(height)}`, detail, href: pageOf('block', height) };
}

/** @param {Tools['get_block']['arguments']} which @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function blockOf(which, signal) {
  const { height, timestamp, transactionCount } = await call('get_block', which, { signal });
  return [foundBlock(height, `${when(timestamp)}, ${grouped(transactionCount)} transactions`)];
}

/** The block that was the newest at a moment. @param {string} time @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function blockBy(time, signal) {
  const { height, timestamp, asOf } = await call('get_block', { time }, { signal });
  const isLater = asOf.time !== null && time > asOf.time;
  return [
    foundBlock(
      height,
      isLater ? `the newest there is, of ${when(timestamp)}` : `the newest on ${when(time)}`,
    ),
  ];
}

/** The first and the last block of a day. @param {string} start @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function blocksOfDay(start, signal) {
  const day = start.slice(0, 10);
  const end = new Date(Date.parse(start) + DAY_MS - 1).toISOString();
  const [before, last] = await Promise.all([newestBy(start, signal), newestBy(end, signal)]);
  if (last === null) return [];
  if (before?.height === last.height)
    return [foundBlock(last.height, `none is of ${day}; this is the one before`)];
  const first = (before?.height ?? 0) + 1;
  const ofLast = foundBlock(last.height, `the last of ${day}, ${when(last.timestamp)}`);
  return first === last.height ? [ofLast] : [foundBlock(first, `the first of ${day}`), ofLast];
}

/** @param {string} time @param {AbortSignal} signal @returns {Promise<Block | null>} */
async function newestBy(time, signal) {
  try {
    return await call('get_block', { time }, { signal });
  } catch (error) {
    if (error instanceof Failure && error.code === 'NOT_FOUND') return null; // before the first block
    throw error;
  }
}

/** @param {number} id @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function groupOf(id, signal) {
  const { groupName, memberCount } = await call('get_group', { group_id: id }, { signal });
  return [
    {
      kind: 'group',
      label: `Group ${id}`,
      detail: `${groupName}, ${grouped(memberCount)} members`,
      href: pageOf('group', id),
    },
  ];
}

/** @param {number} id @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function assetOf(id, signal) {
  const name = (await offers('get_asset'))
    ? (await call('get_asset', { asset: String(id) }, { signal })).name
    : (await call('read_core', { endpoint: '/assets/info', values: { assetId: id } }, { signal })).result
        ?.name;
  return [{ kind: 'asset', label: `Asset ${id}`, detail: String(name), href: pageOf('asset', id) }];
}

/** @param {string} address @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function accountOf(address, signal) {
  const { balance } = await call('get_balance', { address }, { signal });
  return [
    { kind: 'account', label: address, detail: `${grouped(balance)} QORT`, href: pageOf('account', address) },
  ];
}

/** @param {string} key @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function holderOf(key, signal) {
  const { value = '' } = await call(
    'read_core',
    { endpoint: '/addresses/convert/{publickey}', values: { publickey: key } },
    { signal },
  );
  return looksLike.account(value)
    ? [{ kind: 'account', label: value, detail: 'holder of this public key', href: pageOf('account', value) }]
    : [];
}

/** @param {string} address @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function tradeOf(address, signal) {
  const { mode, offeringQort, expectedForeign, foreignCurrency } = await call(
    'get_trade',
    { trade_address: address },
    { signal },
  );
  const detail = `${mode.toLowerCase()}: ${grouped(offeringQort)} QORT for ${expectedForeign} ${foreignCurrency}`;
  return [{ kind: 'trade', label: `Trade ${shortened(address)}`, detail, href: pageOf('trade', address) }];
}

/** @param {string} signature @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function transactionOf(signature, signal) {
  const { type, timestamp } = await call('get_transaction', { signature }, { signal });
  return [
    {
      kind: 'transaction',
      label: `${type} ${shortened(signature)}`,
      detail: when(timestamp),
      href: pageOf('transaction', signature),
    },
  ];
}

/** @param {string} service @param {string} name @param {string | undefined} identifier @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function resourceOf(service, name, identifier, signal) {
  const found = await call(
    'get_qdn_resource',
    { service, name, ...(identifier ? { identifier } : {}) },
    { signal },
  );
  const parts = identifier ? [service, name, identifier] : [service, name];
  return [
    {
      kind: 'resource',
      label: parts.join('/'),
      detail: found.title ?? 'published on QDN',
      href: pageOf('qdn', ...parts),
    },
  ];
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function nameOf(text, signal) {
  const { name, owner, isExactMatch, registered } = await call('get_name', { name: text }, { signal });
  const isLoose = !isExactMatch && !isSame(name, text);
  const detail = isLoose
    ? `looks like what you typed, of ${shortened(owner)}`
    : `of ${shortened(owner)}, registered ${ago(registered)}`;
  return [{ kind: 'name', label: name, detail, href: pageOf('name', name), isLoose }];
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function namesFrom(text, signal) {
  const { names } = await call(
    'search_names',
    { query: text, prefix: true, limit: SUGGESTED_NAMES },
    { signal },
  );
  return names.map(({ name, owner }) => ({
    kind: 'name',
    label: name,
    detail: `of ${shortened(owner)}`,
    href: pageOf('name', name),
    isLoose: !isSame(name, text),
  }));
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function groupsNamed(text, signal) {
  const groups = await everyGroup(signal);
  return groups
    .filter(({ groupName }) => contains(groupName, text))
    .slice(0, SUGGESTED_OTHERS)
    .map(({ groupId, groupName, memberCount }) => ({
      kind: 'group',
      label: groupName,
      detail: `group ${groupId}, ${grouped(memberCount ?? 0)} members`,
      href: pageOf('group', groupId),
      isLoose: !isSame(groupName, text),
    }));
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
export async function pollsNamed(text, signal) {
  const polls = await everyPoll(signal);
  return polls
    .filter(({ pollName }) => contains(pollName, text))
    .slice(0, SUGGESTED_OTHERS)
    .map(({ pollName, publishedTime }) => ({
      kind: 'poll',
      label: pollName,
      detail: `published ${ago(Date.parse(publishedTime))}`,
      href: pageOf('poll', pollName),
      isLoose: !isSame(pollName, text),
    }));
}

/** @param {string} name @param {string} text */
function isSame(name, text) {
  return name.toLowerCase() === text.toLowerCase();
}

/** @param {string} name @param {string} part */
function contains(name, part) {
  return name.toLowerCase().includes(part.toLowerCase());
}

/** @type {{groups: Tools['list_groups']['answer']['groups'], polls: Tools['list_polls']['answer']['polls'], until: number}} */
const kept = { groups: [], polls: [], until: 0 };
const KEPT_MS = 60_000;

/** @param {AbortSignal} signal */
async function everyGroup(signal) {
  await keep(signal);
  return kept.groups;
}

/** @param {AbortSignal} signal */
async function everyPoll(signal) {
  await keep(signal);
  return kept.polls;
}

/** Groups and polls, read once a minute at most while somebody searches. @param {AbortSignal} signal */
async function keep(signal) {
  if (Date.now() < kept.until) return;
  /** @type {typeof kept.groups} */
  const groups = [];
  /** @type {typeof kept.polls} */
  const polls = [];
  if (await offers('list_groups'))
    await eachPage('list_groups', (answer) => groups.push(...answer.groups), signal);
  if (await offers('list_polls'))
    await eachPage('list_polls', (answer) => polls.push(...answer.polls), signal);
  Object.assign(kept, { groups, polls, until: Date.now() + KEPT_MS });
}

/**
 * @template {'list_groups' | 'list_polls'} T
 * @param {T} tool @param {(answer: Tools[T]['answer']) => void} take @param {AbortSignal} signal
 */
async function eachPage(tool, take, signal) {
  /** @type {any} */
  let next = { limit: 100 };
  for (let page = 0; next && page < LISTED_PAGES; page += 1) {
    const answer = await call(tool, next, { signal });
    take(answer);
    next = answer.page.next;
  }
}
