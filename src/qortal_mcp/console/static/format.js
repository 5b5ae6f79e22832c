// Numbers and times as people read them. What is exact stays exact: nothing here rounds what a tool answered.

const NARROW = '\u202f';

/**
 * A number with its thousands apart; digits after the point as they are.
 * @param {unknown} value
 */
export function grouped(value) {
  const [, sign, whole, rest] = /^(-?)([0-9]+)(\.[0-9]+)?$/.exec(String(value)) ?? [];
  if (whole === undefined) return String(value);
  return sign + whole.replace(/\B(?=(?:[0-9]{3})+$)/g, NARROW) + (rest ?? '');
}

/**
 * Which part of an amount is only zeros, so that it can be shown fainter.
 * @param {string} amount
 * @returns {[string, string]}
 */
export function splitAmount(amount) {
  const found = /^(-?[0-9]+(?:\.[0-9]*[1-9])?)(\.?0*)$/.exec(amount);
  return found ? [grouped(found[1]), found[2] ?? ''] : [amount, ''];
}

const UNITS = /** @type {const} */ ([
  ['year', 31_557_600],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]);

/**
 * How long something takes, in its two largest units: "2 hours 5 minutes".
 * @param {number} milliseconds
 */
export function duration(milliseconds) {
  let left = Math.max(0, Math.round(milliseconds / 1000));
  /** @type {string[]} */
  const parts = [];
  for (const [unit, seconds] of UNITS) {
    const count = Math.floor(left / seconds);
    left -= count * seconds;
    if (count) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`);
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 seconds';
}

/**
 * How long ago something was, in one unit: "3 minutes ago".
 * @param {number} timestamp
 * @param {number} [now]
 */
export function ago(timestamp, now = Date.now()) {
  const seconds = (now - timestamp) / 1000;
  if (seconds < -5) return `in ${duration(-seconds * 1000)}`;
  const [unit, length] = UNITS.find(([, each]) => seconds >= each) ?? UNITS[4];
  const count = Math.max(0, Math.floor(seconds / length));
  return count ? `${count} ${unit}${count === 1 ? '' : 's'} ago` : 'just now';
}

/**
 * A time for reading, always in UTC and saying so.
 * @param {number | string} moment
 */
export function when(moment) {
  const date = new Date(moment);
  return Number.isNaN(date.getTime())
    ? String(moment)
    : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  const [unit, each] = bytes < 1e6 ? ['kB', 1e3] : bytes < 1e9 ? ['MB', 1e6] : ['GB', 1e9];
  return `${(bytes / Number(each)).toFixed(1)} ${unit}`;
}

/** Members whose names say less than a word would. @type {Record<string, string>} */
const LABELS = {
  transactionCount: 'Transactions',
  atCount: 'Contracts run',
  atFees: 'Fees of contracts',
  onlineAccountsCount: 'Minters online',
  minterAddress: 'Minter',
  creatorAddress: 'Creator',
  blockHeight: 'Block',
  txGroupId: 'Approval group',
  creationGroupId: 'Created under group',
  memberCount: 'Members',
  adminCount: 'Admins',
  ownerPrimaryName: 'Name of owner',
  wasInPrivilegeTransfer: 'Took part in a transfer of privileges',
  qortAmount: 'QORT',
  foreignCurrency: 'Coin',
  tradeAddress: 'Trade',
  serviceName: 'Service',
  isExactMatch: 'Exactly this name',
};

/**
 * `numberOfConnections` as words: "Number of connections".
 * @param {string} member
 */
export function label(member) {
  if (Object.hasOwn(LABELS, member)) return LABELS[member] ?? member;
  const words = member
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/_/g, ' ')
    .toLowerCase()
    .replace(/^is (?=.)|(?<=.) time$/g, '');
  const named = words
    .replace(/\bqort\b/g, 'QORT')
    .replace(/^a ?t\b/, 'AT')
    .replace(/\bpkh\b/, 'PKH');
  return named.slice(0, 1).toUpperCase() + named.slice(1);
}

/**
 * The ends of a long text without blanks, such as a signature.
 * @param {string} text
 */
export function shortened(text, head = 8, tail = 6) {
  return text.length > head + tail + 3 ? `${text.slice(0, head)}…${text.slice(-tail)}` : text;
}
