// What a person may mean by a text in the search box, and whether the chain has it.

import { ago, grouped, shortened, when } from './format.js';
import { looksLike, pageOf } from './links.js';
import { call, offers } from './wire.js';

/** @typedef {{kind: string, label: string, detail: string, href: string}} Found */
/** @typedef {{kind: string, find: (signal: AbortSignal) => Promise<Found[]>}} Meaning */

// Kinds that can be named before the rest: "group 12", "name:bob".
const NAMED_KIND = /^(block|transaction|account|name|group|asset|poll|resource)[\s:]+(.+)$/is;
// Digits in groups of three, as people and pages write them.
const SEPARATED = /^[0-9]{1,3}(?:[ ,.'’_\u00a0\u2009\u202f][0-9]{3})+$/;
const DATE =
  /^([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ]+([0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?))?\s*(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?$/i;
const DAY_FIRST = /^([0-9]{1,2})\.\s?([0-9]{1,2})\.\s?([0-9]{4})$/;
const MONTH_NAMED =
  /^(?=.*\b[0-9]{4}\b)(?=.*[0-9])[0-9,.\s]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[0-9,.\s:]*$/i;
const RESOURCE = /^(?:qortal:\/\/)?([A-Z][A-Z0-9_]{2,})\/([^/]+)(?:\/(.+))?$/;
const FIRST_SECONDS = 1_000_000_000;
const FIRST_MILLISECONDS = 1_000_000_000_000;
const SUGGESTED_NAMES = 6;
const SUGGESTED_OTHERS = 3;
// Lists without a search of their own are read page by page, so far.
const LISTED_PAGES = 10;

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
  return kind ? all.filter((meaning) => meaning.kind === kind) : all;
}

/**
 * A whole number without its separators; null if it is none.
 * @param {string} text
 */
export function wholeNumber(text) {
  const plain = text.replace(/^#/, '');
  const digits = SEPARATED.test(plain) ? plain.replace(/[^0-9]/g, '') : plain;
  return /^[0-9]{1,15}$/.test(digits) ? Number(digits) : null;
}

/**
 * The moment that a date names, in ISO 8601; a date without a time zone is in UTC. Null if it is none.
 * @param {string} text
 */
export function momentOf(text) {
  const number = wholeNumber(text);
  if (number !== null) {
    if (number < FIRST_SECONDS) return null;
    return isoOf(number < FIRST_MILLISECONDS ? number * 1000 : number);
  }
  const day = DAY_FIRST.exec(text);
  const date = DATE.exec(day ? `${day[3]}-${day[2]}-${day[1]}` : text);
  if (date) {
    const [, year, month = '', dayOfMonth = '', clock = '00:00', zone = 'Z'] = date;
    const padded = `${year}-${month.padStart(2, '0')}-${dayOfMonth.padStart(2, '0')}T${clock.padStart(5, '0')}`;
    return isoOf(Date.parse(padded + (/^(z|utc)$/i.test(zone) ? 'Z' : zone)));
  }
  return MONTH_NAMED.test(text) ? isoOf(Date.parse(`${text} UTC`)) : null;
}

/** @param {number} time */
function isoOf(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** @param {string} text @returns {Meaning[]} */
function byDate(text) {
  const time = momentOf(text);
  return time === null
    ? []
    : [meaning('block', (signal) => blockOf({ time }, signal, `Newest block on ${when(time)}`))];
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

/** @param {Tools['get_block']['arguments']} which @param {AbortSignal} signal @param {string} [why] @returns {Promise<Found[]>} */
async function blockOf(which, signal, why) {
  const { height, timestamp, transactionCount } = await call('get_block', which, { signal });
  const detail = why ?? `${when(timestamp)}, ${grouped(transactionCount)} transactions`;
  return [{ kind: 'block', label: `Block ${grouped(height)}`, detail, href: pageOf('block', height) }];
}

/** @param {number} id @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function groupOf(id, signal) {
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
async function assetOf(id, signal) {
  const name = (await offers('get_asset'))
    ? (await call('get_asset', { asset: String(id) }, { signal })).name
    : (await call('read_core', { endpoint: '/assets/info', values: { assetId: id } }, { signal })).result
        ?.name;
  return [{ kind: 'asset', label: `Asset ${id}`, detail: String(name), href: pageOf('asset', id) }];
}

/** @param {string} address @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function accountOf(address, signal) {
  const { balance } = await call('get_balance', { address }, { signal });
  return [
    { kind: 'account', label: address, detail: `${grouped(balance)} QORT`, href: pageOf('account', address) },
  ];
}

/** @param {string} key @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function holderOf(key, signal) {
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
async function tradeOf(address, signal) {
  const { mode, offeringQort, expectedForeign, foreignCurrency } = await call(
    'get_trade',
    { trade_address: address },
    { signal },
  );
  const detail = `${mode.toLowerCase()}: ${grouped(offeringQort)} QORT for ${expectedForeign} ${foreignCurrency}`;
  return [{ kind: 'trade', label: `Trade ${shortened(address)}`, detail, href: pageOf('trade', address) }];
}

/** @param {string} signature @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function transactionOf(signature, signal) {
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
async function resourceOf(service, name, identifier, signal) {
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
async function nameOf(text, signal) {
  const { name, owner, isExactMatch, registered } = await call('get_name', { name: text }, { signal });
  const detail = isExactMatch
    ? `of ${shortened(owner)}, registered ${ago(registered)}`
    : `a look-alike of what you typed, of ${shortened(owner)}`;
  return [{ kind: 'name', label: name, detail, href: pageOf('name', name) }];
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function namesFrom(text, signal) {
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
  }));
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function groupsNamed(text, signal) {
  const groups = await everyGroup(signal);
  return groups
    .filter(({ groupName }) => contains(groupName, text))
    .slice(0, SUGGESTED_OTHERS)
    .map(({ groupId, groupName, memberCount }) => ({
      kind: 'group',
      label: groupName,
      detail: `group ${groupId}, ${grouped(memberCount ?? 0)} members`,
      href: pageOf('group', groupId),
    }));
}

/** @param {string} text @param {AbortSignal} signal @returns {Promise<Found[]>} */
async function pollsNamed(text, signal) {
  const polls = await everyPoll(signal);
  return polls
    .filter(({ pollName }) => contains(pollName, text))
    .slice(0, SUGGESTED_OTHERS)
    .map(({ pollName, publishedTime }) => ({
      kind: 'poll',
      label: pollName,
      detail: `published ${ago(Date.parse(publishedTime))}`,
      href: pageOf('poll', pollName),
    }));
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
