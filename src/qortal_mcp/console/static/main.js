// Starts the page: which view an address means, the header, and the question for a token.

import { announce, element, fill } from './element.js';
import { follow } from './live.js';
import { failure } from './panel.js';
import { hasLeft, token } from './wire.js';
import './search/box.js';
import './status.js';
import { view as ask } from './views/ask.js';
import { view as audit } from './views/audit.js';
import { view as connect } from './views/connect.js';
import { view as lookup } from './views/lookup.js';
import { view as overview } from './views/overview.js';
import { things } from './views/things.js';
import { view as tools } from './views/tools.js';

/** @typedef {{parts: string[], query: URLSearchParams}} Route */
/**
 * @typedef {object} View
 * @property {string | ((route: Route) => string)} title
 * @property {(place: HTMLElement, route: Route, signal: AbortSignal) => void | Promise<void>} show
 */

/** Views by the first part of their address. @type {Record<string, View>} */
const VIEWS = { '': overview, search: lookup, tools, ask, connect, audit, ...things };
const MENU = {
  '': 'Overview',
  search: 'Look up',
  tools: 'Tools',
  ask: 'Ask',
  connect: 'Connect',
  audit: 'Audit',
};

const main = /** @type {HTMLElement} */ (document.querySelector('main'));
const nav = /** @type {HTMLElement} */ (document.querySelector('nav'));
let leaving = new AbortController();
let isFirst = true;

/** @returns {{name: string, route: Route}} */
function addressed() {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [name = '', ...parts] = path.split('/').map(decoded);
  return { name, route: { parts: parts.filter(Boolean), query: new URLSearchParams(query) } };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function show() {
  if (location.hash === '#main') return;
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const { name, route } = addressed();
  const view = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
  const title = view ? (typeof view.title === 'string' ? view.title : view.title(route)) : 'No such page';
  document.title = `${title} · Qortal console`;
  markMenu(name);
  const place = element('div', { class: 'view' });
  const heading = element('h1', { tabindex: '-1' }, title);
  fill(main, heading, place);
  // Whoever follows a link hears the new page's title, and goes on from there.
  if (!isFirst && !isTyping()) heading.focus({ preventScroll: true });
  isFirst = false;
  scrollTo(0, 0);
  try {
    if (view) await view.show(place, route, signal);
    else
      fill(
        place,
        element(
          'p',
          {},
          'There is no page at this address. ',
          element('a', { href: '#/' }, 'Go to the overview.'),
        ),
      );
  } catch (error) {
    if (!hasLeft(error)) fill(place, failure(error, show));
  }
}

/** A search goes on while its results change. */
function isTyping() {
  return document.activeElement instanceof HTMLInputElement;
}

/** @param {string} name */
function markMenu(name) {
  const chosen = Object.hasOwn(things, name) ? 'search' : name;
  fill(
    nav,
    Object.entries(MENU).map(([path, words]) =>
      element('a', { href: `#/${path}`, 'aria-current': path === chosen ? 'page' : null }, words),
    ),
  );
}

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('token'));
dialog.addEventListener('cancel', (event) => event.preventDefault());
token.ask = (why) =>
  new Promise((resolve) => {
    const form = /** @type {HTMLFormElement} */ (dialog.querySelector('form'));
    const input = /** @type {HTMLInputElement} */ (form.elements.namedItem('token'));
    fill(/** @type {Element} */ (document.getElementById('token-why')), why);
    input.value = '';
    dialog.addEventListener('close', () => resolve(input.value.trim()), { once: true });
    dialog.showModal();
    input.focus();
  });

addEventListener('hashchange', show);
addEventListener('unhandledrejection', (event) => {
  if (hasLeft(event.reason)) event.preventDefault();
  else announce('Something on this page failed; the console of the browser has the details.', true);
});
show();
follow();
