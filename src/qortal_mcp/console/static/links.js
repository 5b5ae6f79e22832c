// Where a value leads: which pages there are, and which members of an answer name one.

/** @typedef {{kind: string, href: string}} Link */

/**
 * The address of a page: `#/account/Q…`.
 * @param {string} view
 * @param {...(string | number)} parts
 */
export function pageOf(view, ...parts) {
  return `#/${[view, ...parts.map((part) => encodeURIComponent(String(part).toWellFormed()))].join('/')}`;
}

/**
 * The address of a call in the tools view, which makes it when it is opened.
 * @template {keyof Tools} T
 * @param {T} tool
 * @param {Tools[T]['arguments']} args
 */
export function callPage(tool, args) {
  return toolPage(tool, JSON.stringify(args));
}

/** @param {string} tool @param {string} [argumentsAsJson] */
export function toolPage(tool, argumentsAsJson = '') {
  return (
    pageOf('tools', tool) +
    (argumentsAsJson ? `?args=${encodeURIComponent(argumentsAsJson.toWellFormed())}` : '')
  );
}

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const ACCOUNT = new RegExp(`^Q${BASE58}{33}$`);
const CONTRACT = new RegExp(`^A${BASE58}{33}$`);
// 64 bytes and 128 bytes in Base58.
const TRANSACTION = new RegExp(`^${BASE58}{80,90}$`);
const BLOCK = new RegExp(`^${BASE58}{165,176}$`);
const PUBLIC_KEY = new RegExp(`^${BASE58}{42,45}$`);

/** What a text is by its look alone. */
export const looksLike = {
  /** @param {string} text */
  account: (text) => ACCOUNT.test(text),
  /** @param {string} text */
  contract: (text) => CONTRACT.test(text),
  /** @param {string} text */
  transaction: (text) => TRANSACTION.test(text),
  /** @param {string} text */
  block: (text) => BLOCK.test(text),
  /** @param {string} text */
  publicKey: (text) => PUBLIC_KEY.test(text),
};

/** @typedef {Record<string, unknown>} Row */

// Members that name something by what they are called. An address is recognised by its look, wherever it stands.
/** @type {Record<string, (value: any, row: Row) => string | null>} */
const BY_MEMBER = {
  height: blockAt,
  blockHeight: blockAt,
  approvalHeight: blockAt,
  refundHeight: blockAt,
  signature: bySignature,
  reference: bySignature,
  latestSignature: bySignature,
  pendingSignature: bySignature,
  chatReference: bySignature,
  tradeAddress: (value) => pageOf('trade', value),
  groupId: groupAt,
  txGroupId: groupAt,
  creationGroupId: groupAt,
  groupName: (value, row) => groupAt(row.groupId),
  assetId: assetAt,
  haveAssetId: assetAt,
  wantAssetId: assetAt,
  assetName: (value, row) => assetAt(row.assetId),
  pollName: (value) => pageOf('poll', value),
  primaryName: named,
  ownerPrimaryName: named,
  senderName: named,
  recipientName: named,
  names: named,
  identifier: (value, row) => resourceAt(row),
};

/** @param {unknown} height */
function blockAt(height) {
  return Number.isSafeInteger(height) && Number(height) > 0 ? pageOf('block', Number(height)) : null;
}

/** @param {unknown} id */
function groupAt(id) {
  return Number.isSafeInteger(id) && Number(id) > 0 ? pageOf('group', Number(id)) : null;
}

/** @param {unknown} id */
function assetAt(id) {
  return Number.isSafeInteger(id) && Number(id) >= 0 ? pageOf('asset', Number(id)) : null;
}

/** @param {unknown} signature */
function bySignature(signature) {
  const text = String(signature);
  if (looksLike.block(text)) return pageOf('block', text);
  return looksLike.transaction(text) ? pageOf('transaction', text) : null;
}

/** @param {unknown} name */
function named(name) {
  return typeof name === 'string' && name ? pageOf('name', name) : null;
}

/** @param {Row} row */
function resourceAt({ serviceName, name, identifier }) {
  if (typeof serviceName !== 'string' || typeof name !== 'string') return null;
  const parts = typeof identifier === 'string' && identifier ? [name, identifier] : [name];
  return pageOf('qdn', serviceName, ...parts);
}

/**
 * Whose name the member `name` is: of an asset, an option, or a registered one.
 * @param {Row} row
 */
function nameOf(row) {
  if ('votes' in row || 'weight' in row) return null;
  if ('assetId' in row) return assetAt(row.assetId);
  if ('groupName' in row) return null;
  return named(row.name);
}

/**
 * Where a member of an answer leads; null if nowhere.
 * @param {string} member
 * @param {unknown} value
 * @param {Row} [row] what it is a member of
 * @returns {string | null}
 */
export function linkOf(member, value, row = {}) {
  if (value === null || value === undefined) return null;
  if (Object.hasOwn(BY_MEMBER, member)) return (BY_MEMBER[member] ?? named)(value, row);
  if (member === 'name') return nameOf(row);
  if (member === 'serviceName') return resourceAt(row);
  if (typeof value !== 'string') return null;
  if (looksLike.account(value)) return pageOf('account', value);
  return looksLike.contract(value) ? pageOf('contract', value) : null;
}
