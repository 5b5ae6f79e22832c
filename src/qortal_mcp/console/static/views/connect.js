// Connect: how each client is set up for this server, ready to copy. What it says comes from `GET /console/connect`.

import { announce, copyButton, element, fill } from '../element.js';
import { address, getJson } from '../wire.js';

/** @typedef {{path: string, usedFor: string}} File */
/** @typedef {{text: string, code?: string, language?: string, link?: string, files?: File[]}} Step */
/** @typedef {{kind: string, title: string, steps: Step[]}} Way */
/** @typedef {{name: string, title: string, ways: Way[], remarks: string[], certainty: string}} Client */
/** @typedef {{endpoint: string, needsToken: boolean, clients: Client[], trial: Step}} Connections */
/** @typedef {{client: string, way: string}} Choice */

const KEPT = 'qortal-mcp-connect';
/** Where an arrow key leads in a list of tabs. @type {Record<string, (at: number, last: number) => number>} */
const MOVES = {
  ArrowDown: (at, last) => (at === last ? 0 : at + 1),
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowUp: (at, last) => (at === 0 ? last : at - 1),
  ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

/** @type {import('../main.js').View} */
export const view = {
  title: 'Connect',
  async show(place, route, signal) {
    const path = `console/connect?url=${encodeURIComponent(address('mcp'))}`;
    const known = /** @type {Connections} */ (await getJson(path, { signal }));
    const kept = keptChoice();
    const choice = { client: route.parts[0] ?? kept.client, way: route.query.get('way') ?? kept.way };
    fill(place, introduction(known), chooser(known.clients, choice), tryIt(known));
  },
};

/** @param {Connections} known */
function introduction({ endpoint, needsToken }) {
  return element(
    'p',
    {},
    'This server answers at ',
    element('code', {}, endpoint),
    ' ',
    copyButton(endpoint),
    needsToken ? ' It wants a token, which none of the texts below contains.' : null,
  );
}

/**
 * The list of clients, and next to it the set-up of the one that is chosen.
 * @param {Client[]} clients @param {Choice} choice
 */
function chooser(clients, choice) {
  const panel = element('section', { class: 'panel', id: 'connect-client', role: 'tabpanel', tabindex: '0' });
  const tabs = clients.map((client) =>
    element(
      'button',
      { type: 'button', role: 'tab', id: `connect-${client.name}`, 'aria-controls': panel.id },
      client.title,
    ),
  );
  /** @param {number} at */
  const choose = (at) => {
    const client = /** @type {Client} */ (clients[at]);
    mark(tabs, at);
    panel.setAttribute('aria-labelledby', `connect-${client.name}`);
    choice.client = client.name;
    keep(choice);
    fill(panel, setup(client, choice));
  };
  const list = element(
    'div',
    { class: 'connect-list', role: 'tablist', 'aria-label': 'Clients', 'aria-orientation': 'vertical' },
    tabs,
  );
  walk(list, tabs, choose);
  choose(
    Math.max(
      0,
      clients.findIndex((client) => client.name === choice.client),
    ),
  );
  return element('div', { class: 'connect' }, list, panel);
}

/**
 * @param {HTMLElement[]} tabs @param {number} chosen
 */
function mark(tabs, chosen) {
  tabs.forEach((tab, at) => {
    tab.setAttribute('aria-selected', String(at === chosen));
    tab.tabIndex = at === chosen ? 0 : -1;
  });
}

/**
 * Choose with a click or with the arrow keys.
 * @param {HTMLElement} list @param {HTMLElement[]} tabs @param {(at: number) => void} choose
 */
function walk(list, tabs, choose) {
  tabs.forEach((tab, at) => tab.addEventListener('click', () => choose(at)));
  list.addEventListener('keydown', (event) => {
    const move = MOVES[event.key];
    const at = tabs.findIndex((tab) => tab === document.activeElement);
    if (!move || at < 0) return;
    event.preventDefault();
    const next = move(at, tabs.length - 1);
    choose(next);
    tabs[next]?.focus();
  });
}

/** @param {Client} client @param {Choice} choice */
function setup(client, choice) {
  const steps = element('ul', { class: 'connect-steps' });
  const buttons = client.ways.map((way) => element('button', { type: 'button' }, way.title));
  /** @param {Way} way */
  const open = (way) => {
    buttons.forEach((button, at) => button.setAttribute('aria-pressed', String(client.ways[at] === way)));
    fill(
      steps,
      way.steps.map((step) => element('li', {}, shownStep(step, client.title))),
    );
  };
  client.ways.forEach((way, at) =>
    buttons[at]?.addEventListener('click', () => {
      choice.way = way.kind;
      keep(choice);
      open(way);
      announce(`${client.title}: ${way.title}`);
    }),
  );
  open(client.ways.find((way) => way.kind === choice.way) ?? /** @type {Way} */ (client.ways[0]));
  return [
    element('h2', {}, client.title),
    buttons.length > 1
      ? element('div', { class: 'choices', role: 'group', 'aria-label': 'How it connects' }, buttons)
      : null,
    steps,
    client.remarks.length
      ? element(
          'ul',
          {},
          client.remarks.map((remark) => element('li', {}, remark)),
        )
      : null,
    element('p', { class: 'faint' }, client.certainty),
  ];
}

/** @param {Step} step @param {string} title */
function shownStep({ text, code, link, files }, title) {
  return [
    element('p', {}, text),
    link ? element('a', { class: 'button', href: link, rel: 'noreferrer' }, `Add to ${title}`) : null,
    files?.length ? element('dl', { class: 'connect-files' }, files.map(shownFile)) : null,
    code ? shownCode(code) : null,
  ];
}

/** @param {File} file */
function shownFile({ path, usedFor }) {
  return element('div', {}, element('dt', {}, usedFor), element('dd', {}, element('code', {}, path)));
}

/** @param {string} code */
function shownCode(code) {
  return element('div', { class: 'code' }, element('pre', { tabindex: '0' }, code), copyButton(code));
}

/** @param {Connections} known */
function tryIt({ trial }) {
  return element(
    'section',
    { class: 'panel' },
    element('h2', {}, 'Try it without a client'),
    shownStep(trial, 'a shell'),
  );
}

/** @returns {Choice} */
function keptChoice() {
  const [client = '', way = ''] = (localStorage.getItem(KEPT) ?? '').split(' ');
  return { client, way };
}

/** Remember a choice, and have it in the address, so that it can be shared. @param {Choice} choice */
function keep({ client, way }) {
  localStorage.setItem(KEPT, `${client} ${way}`);
  history.replaceState(
    null,
    '',
    `#/connect/${encodeURIComponent(client)}${way ? `?way=${encodeURIComponent(way)}` : ''}`,
  );
}
