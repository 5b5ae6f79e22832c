// An answer as a person reads it: facts, tables, links. Never more digits or fewer than the tool gave.

import { element } from './element.js';
import { fitting } from './fitting.js';
import { ago, grouped, label, shortened, splitAmount, when } from './format.js';
import { Numeral, print } from './json.js';
import { linkOf } from './links.js';

/** @typedef {import('./element.js').Child} Child */
/** @typedef {Record<string, any>} Row */

const AMOUNT = /^-?[0-9]+\.[0-9]{8}$/;
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$/;
// About an answer, not part of it: shown apart.
const ABOUT = ['asOf', 'page', 'notes'];
const LONGEST_CELL = 160;

/** Whether a value is a list of objects, which makes it a table. @param {unknown} value */
function isTable(value) {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

/** @param {unknown} value */
function isObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Numeral);
}

/** Milliseconds are not shown where the same time stands beside them in words. @param {string} member @param {Row} row */
function isTold(member, row) {
  if (member === 'timestamp') return 'time' in row;
  return `${member}Time` in row && typeof row[member] !== 'string';
}

/** Units stand with their amount. @param {string} member */
function isUnit(member) {
  return /^(unit|[a-z]+Unit)$/.test(member);
}

/**
 * The unit of an amount, if the row or the name of the member says it.
 * @param {string} member @param {Row} row
 */
function unitOf(member, row) {
  if (member === 'price' || member === 'total' || member === 'commission')
    return row[`${member}Unit`] ?? row.unit ?? '';
  if (/Qort$|^qort/.test(member) || member === 'fee') return 'QORT';
  if (member === 'balance') return row.unit ?? (row.assetName === undefined ? 'QORT' : row.assetName);
  return row.unit ?? '';
}

/**
 * One value: a link where it leads somewhere.
 * @param {string} member
 * @param {any} value
 * @param {Row} row
 * @param {boolean} [isShort] in a table, where long texts are cut
 * @returns {Child}
 */
export function valueOf(member, value, row, isShort = false) {
  if (value === null || value === undefined) return element('span', { class: 'none', title: 'not set' }, '–');
  if (value === '') return element('span', { class: 'none' }, 'empty');
  if (Array.isArray(value)) return listOf(member, value, row, isShort);
  if (isObject(value)) return isShort ? inWords(value) : facts(value);
  const href = linkOf(member, value, row);
  const shown = plain(member, value, row, isShort);
  return href
    ? element('a', { href, title: typeof value === 'string' && isShort ? value : null }, shown)
    : shown;
}

/** @param {string} member @param {any[]} values @param {Row} row @param {boolean} isShort @returns {Child} */
function listOf(member, values, row, isShort) {
  if (!values.length) return element('span', { class: 'none' }, 'none');
  if (isTable(values)) return isShort ? `${values.length} entries` : fitting(table(label(member), values));
  if (values.some((value) => typeof value === 'object' && value !== null && !(value instanceof Numeral)))
    return element('code', {}, print(values));
  return values.map((value, at) => [at ? ', ' : '', valueOf(member, value, row, isShort)]);
}

/** @param {Row} value */
function inWords(value) {
  return Object.entries(value)
    .map(([name, one]) => `${label(name)}: ${typeof one === 'object' && one !== null ? print(one) : one}`)
    .join(', ');
}

/** @param {string} member @param {any} value @param {Row} row @param {boolean} isShort @returns {Child} */
function plain(member, value, row, isShort) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value instanceof Numeral || typeof value === 'number') return number(member, value, row);
  const text = String(value);
  if (AMOUNT.test(text)) return amount(text, unitOf(member, row));
  if (TIME.test(text)) return moment(text, isShort);
  if (/\s/.test(text) || text.length < 24) return cut(text, isShort);
  return element('code', {}, isShort ? shortened(text) : text);
}

/** @param {string} text @param {boolean} isShort */
function cut(text, isShort) {
  return isShort && text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}

/** @param {string} member @param {number | Numeral} value @param {Row} row */
function number(member, value, row) {
  if (/^(uptime|timeDelta)$/.test(member) || /(Expiry|Timestamp|lockedUntil|LockedUntil)$/.test(member))
    return element(
      'span',
      { title: String(value) },
      /Timestamp|Expiry|Until/.test(member) ? when(Number(value)) : grouped(value),
    );
  return element(
    'span',
    { class: 'figure' },
    /^(id|service|version|nonce)$/.test(member) ? String(value) : grouped(value),
  );
}

/** @param {string} text @param {string} unit */
export function amount(text, unit = '') {
  const [digits, zeros] = splitAmount(text);
  return element(
    'span',
    { class: 'figure' },
    digits,
    element('span', { class: 'zeros' }, zeros),
    unit ? ` ${unit}` : '',
  );
}

/** @param {string} iso @param {boolean} [isShort] without the zone, which the heading of a column says */
export function moment(iso, isShort = false) {
  const time = Date.parse(iso);
  return element(
    'time',
    { datetime: iso, title: ago(time) },
    isShort ? when(time).replace(' UTC', '') : when(time),
  );
}

/**
 * The members of an object, one below the other.
 * @param {Row} row
 * @param {readonly string[]} [members] only these, in this order
 */
export function facts(row, members) {
  const chosen =
    members ??
    Object.keys(row).filter((name) => !ABOUT.includes(name) && !isUnit(name) && !isTold(name, row));
  return element(
    'dl',
    { class: 'facts' },
    chosen
      .filter((name) => row[name] !== undefined)
      .map((name) =>
        element(
          'div',
          { class: room(row[name]) },
          element('dt', {}, label(name)),
          element('dd', {}, valueOf(name, row[name], row)),
        ),
      ),
  );
}

/** How much room a fact takes: a table stands below its name, a long text gets a whole line. @param {unknown} value */
function room(value) {
  if (typeof value === 'object' && value !== null && !(value instanceof Numeral)) return roomOfMany(value);
  return String(value).length > 40 ? 'long' : null;
}

/** @param {object} value */
function roomOfMany(value) {
  if (isTable(value) || !Array.isArray(value)) return 'below';
  return value.length > 3 ? 'long' : null;
}

/**
 * Rows with the same members, one a line; `fitting` puts them into a place.
 * @param {string} caption
 * @param {Row[]} rows
 * @param {readonly string[]} [columns]
 */
export function table(caption, rows, columns) {
  const shown = columns ?? columnsOf(rows);
  return element(
    'table',
    {},
    element('caption', { class: 'unseen' }, caption),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        shown.map((name) =>
          element('th', { scope: 'col', class: alignment(rows, name) }, heading(rows, name)),
        ),
      ),
    ),
    element(
      'tbody',
      {},
      rows.map((row) => tableRow(row, shown, rows)),
    ),
  );
}

/** @param {Row} row @param {readonly string[]} columns @param {Row[]} rows */
export function tableRow(row, columns, rows) {
  return element(
    'tr',
    {},
    columns.map((name) =>
      element(
        'td',
        { 'data-label': heading(rows, name), class: alignment(rows, name) },
        row[name] === undefined ? '' : valueOf(name, row[name], row, true),
      ),
    ),
  );
}

/** @param {Row[]} rows */
function columnsOf(rows) {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  const first = rows[0] ?? {};
  return [...names].filter((name) => !isUnit(name) && !isTold(name, first));
}

/** @param {Row[]} rows @param {string} name */
function heading(rows, name) {
  return rows.some((row) => typeof row[name] === 'string' && TIME.test(row[name]))
    ? `${label(name)} (UTC)`
    : label(name);
}

/** Figures stand right, so that they line up. @param {Row[]} rows @param {string} name */
function alignment(rows, name) {
  const found = rows.find((row) => row[name] !== null && row[name] !== undefined)?.[name];
  const isFigure =
    typeof found === 'number' ||
    found instanceof Numeral ||
    (typeof found === 'string' && AMOUNT.test(found));
  return isFigure ? 'right' : null;
}

/**
 * A whole answer: its remarks first, then what it says.
 * @param {Row} answer
 */
export function readable(answer) {
  const members = Object.keys(answer).filter((name) => !ABOUT.includes(name));
  const tables = members.filter((name) => isTable(answer[name]));
  const rest = members.filter((name) => !tables.includes(name) && !isUnit(name) && !isTold(name, answer));
  return [
    notes(answer),
    rest.length ? facts(answer, rest) : null,
    tables.map((name) => [
      tables.length + rest.length > 1 ? element('h3', {}, label(name)) : null,
      fitting(table(label(name), answer[name])),
    ]),
  ];
}

/** What a tool remarks about its answer. @param {Row} answer */
export function notes(answer) {
  const said = /** @type {string[]} */ (answer.notes ?? []).filter((text) => !/^Sample data/i.test(text));
  return said.length
    ? element(
        'ul',
        { class: 'notes' },
        said.map((text) => element('li', {}, text)),
      )
    : null;
}

/** Where an answer comes from, in a few words. @param {Row} answer @returns {string} */
export function origin(answer) {
  const { node, height, time, confirmedBy } = answer.asOf ?? {};
  if (!node) return '';
  const nodes = confirmedBy?.length ? `${confirmedBy.length} nodes agree` : '';
  return [node, height && `height ${grouped(height)}`, time && when(time), nodes].filter(Boolean).join(' · ');
}
