// Node and chain at a glance.

import { lineChart, namedBars, sparkBars } from '../charts.js';
import { element, fill } from '../element.js';
import { ago, duration, grouped, label, when } from '../format.js';
import { callPage, pageOf } from '../links.js';
import { current, on } from '../live.js';
import { listPanel, panel } from '../panel.js';
import { amount } from '../readable.js';
import { tools } from '../wire.js';

const AGE_MS = 5000;
const BLOCKS = 60;
const TRADES = 100;
const TYPES = 8;

/** @type {import('../main.js').View} */
export const view = {
  title: 'Overview',
  async show(place, route, signal) {
    const verdict = element('p', { class: 'verdict' });
    const sayVerdict = () => {
      const { tone, words, advice } = current();
      verdict.dataset.tone = tone;
      fill(verdict, element('strong', {}, words), ` ${advice}`);
    };
    on('state', sayVerdict, signal);
    sayVerdict();
    const grid = element('div', { class: 'grid' });
    fill(place, verdict, grid);
    const offered = new Set((await tools()).map((tool) => tool.name));
    fill(
      grid,
      PARTS.filter(([tool]) => offered.has(tool)).map(([, part]) => part(signal)),
    );
  },
};

/** The parts of the page, each with the tool that it needs. @type {[keyof Tools, (signal: AbortSignal) => HTMLElement][]} */
const PARTS = [
  ['get_node_status', node],
  ['list_blocks', blockTimes],
  ['list_completed_trades', prices],
  ['get_network_overview', lastDay],
  ['list_blocks', newestBlocks],
  ['search_transactions', newestTransactions],
];

/** @param {string} name @param {import('../element.js').Child} value @param {import('../element.js').Child} [beside] */
function figure(name, value, beside = null) {
  return element('div', { class: 'stat' }, element('dt', {}, name), element('dd', {}, value, beside));
}

/** @param {AbortSignal} signal */
function node(signal) {
  return panel({
    title: 'Node',
    tool: 'get_node_status',
    args: {},
    signal,
    follows: true,
    show: (status) => [
      element(
        'dl',
        { class: 'stats' },
        figure(
          'Height',
          element('a', { href: pageOf('block', status.height), class: 'large' }, grouped(status.height)),
        ),
        figure('Newest block', age(Date.parse(status.asOf.time ?? ''), signal)),
        figure('In sync', status.syncPercent === null ? 'unknown' : `${status.syncPercent} %`),
        figure('Peers', grouped(status.numberOfConnections)),
        figure('Minting', status.isMintingPossible ? 'possible' : 'not possible'),
        figure('Version', (status.version ?? 'unknown').replace(/^qortal-/, '')),
        figure('Running for', status.uptime === null ? 'unknown' : duration(status.uptime)),
        figure('Network', status.isTestNet ? 'test network' : 'main network'),
      ),
    ],
  });
}

/** How old the newest block is, kept current. @param {number} time @param {AbortSignal} signal */
function age(time, signal) {
  const shown = element('time', {});
  if (Number.isNaN(time)) return 'unknown';
  shown.dateTime = new Date(time).toISOString();
  shown.title = when(time);
  const say = () => (shown.textContent = ago(time));
  const clock = setInterval(() => (shown.isConnected ? say() : clearInterval(clock)), AGE_MS);
  signal.addEventListener('abort', () => clearInterval(clock));
  say();
  return shown;
}

/** @param {AbortSignal} signal */
function blockTimes(signal) {
  return panel({
    title: 'Block times',
    tool: 'list_blocks',
    args: { limit: BLOCKS },
    signal,
    follows: true,
    show: ({ blocks }) => {
      const times = blocks.flatMap(({ timestamp }) => timestamp ?? []).reverse();
      const gaps = times.slice(1).map((time, at) => (time - (times[at] ?? time)) / 1000);
      if (!gaps.length) return 'Too few blocks.';
      const counts = blocks.map(({ transactionCount }) => transactionCount).reverse();
      const sorted = [...gaps].sort((a, b) => a - b);
      const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
      return element(
        'dl',
        { class: 'stats' },
        figure(
          'Median time between blocks',
          seconds(median),
          sparkBars(
            gaps,
            `Seconds between the last ${blocks.length} blocks: median ${seconds(median)}, longest ${seconds(Math.max(...gaps))}`,
          ),
        ),
        figure('Longest', seconds(Math.max(...gaps))),
        figure(
          `Transactions in ${blocks.length} blocks`,
          grouped(counts.reduce((sum, count) => sum + count, 0)),
          sparkBars(
            counts,
            `Transactions in each of the last ${blocks.length} blocks, at most ${Math.max(...counts)}`,
          ),
        ),
      );
    },
  });
}

/** @param {number} value */
function seconds(value) {
  return value < 120 ? `${Math.round(value)} s` : duration(value * 1000);
}

/** @param {AbortSignal} signal */
function lastDay(signal) {
  return panel({
    title: 'Last 24 hours',
    tool: 'get_network_overview',
    args: {},
    signal,
    follows: true,
    wide: 'wide',
    show: ({ last24Hours, onlineMinters, circulatingSupplyQort, peers, fees }) => [
      element(
        'dl',
        { class: 'stats' },
        last24Hours && [
          figure('Blocks', grouped(last24Hours.blockCount)),
          figure('Transactions', grouped(last24Hours.transactionCount)),
          figure('Names registered', grouped(last24Hours.namesRegistered)),
          figure('Assets issued', grouped(last24Hours.assetsIssued)),
        ],
        figure(
          'Minted by blocks',
          circulatingSupplyQort === null ? 'unknown' : amount(circulatingSupplyQort, 'QORT'),
        ),
        fees && figure('Fee of a payment', amount(fees.payment, 'QORT')),
        fees && figure('Fee of a name', amount(fees.registerName, 'QORT')),
        figure(
          'Peers in, out, for data',
          [peers.inbound, peers.outbound, peers.data].map((count) => count ?? '–').join(', '),
        ),
      ),
      element(
        'div',
        { class: 'columns' },
        onlineMinters && [
          element(
            'div',
            {},
            element('h3', {}, `Minters online: ${grouped(onlineMinters.total)}`),
            minters(onlineMinters.byLevel),
          ),
        ],
        last24Hours &&
          element(
            'div',
            {},
            element('h3', {}, 'Transactions by type'),
            types(last24Hours.transactionCountByType),
          ),
      ),
    ],
  });
}

/** @param {{level: number, count: number}[]} byLevel */
function minters(byLevel) {
  return byLevel.length
    ? namedBars(
        'Minters online by level',
        byLevel.map(({ level, count }) => ({ name: `Level ${level}`, count })),
      )
    : 'None.';
}

/** @param {Record<string, number>} counts */
function types(counts) {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const rest = rows.slice(TYPES).reduce((sum, [, count]) => sum + count, 0);
  const shown = rows.slice(0, TYPES).map(([type, count]) => ({ name: type, count }));
  return namedBars(
    'Transactions of the last 24 hours by type',
    rest ? [...shown, { name: 'All others', count: rest }] : shown,
  );
}

/** @param {AbortSignal} signal */
function prices(signal) {
  return panel({
    title: 'Trade prices',
    tool: 'list_completed_trades',
    args: { limit: TRADES },
    signal,
    wide: 'wide',
    show: ({ trades }) => {
      const byCoin = Map.groupBy(
        trades.filter(({ price }) => price !== null).reverse(),
        ({ foreignCurrency }) => foreignCurrency,
      );
      if (!byCoin.size) return element('p', { class: 'none' }, 'No trades yet.');
      const chart = element('div', {});
      /** @param {string} coin */
      const choose = (coin) => {
        const chosen = byCoin.get(coin) ?? [];
        const points = chosen.map(({ timestamp, price, priceUnit, qortAmount }) => ({
          time: timestamp,
          value: Number(price),
          words: `${price} ${priceUnit} · ${grouped(qortAmount)} QORT`,
        }));
        fill(
          chart,
          lineChart(points, `Price of QORT in ${label(coin.toLowerCase())}, newest ${points.length} trades`),
        );
      };
      const [first = ''] = byCoin.keys();
      choose(first);
      return [
        coinChooser([...byCoin.keys()], choose),
        chart,
        element(
          'p',
          { class: 'aside' },
          element('a', { href: callPage('list_completed_trades', { limit: TRADES }) }, 'All trades'),
          ' · ',
          element('a', { href: callPage('list_trade_offers', {}) }, 'open offers'),
        ),
      ];
    },
  });
}

/** @param {string[]} coins @param {(coin: string) => void} choose */
function coinChooser(coins, choose) {
  const buttons = coins.map((coin, at) =>
    element(
      'button',
      {
        type: 'button',
        'aria-pressed': String(at === 0),
        onclick: () => {
          for (const button of buttons) button.setAttribute('aria-pressed', String(button === buttons[at]));
          choose(coin);
        },
      },
      label(coin.toLowerCase()),
    ),
  );
  return element('div', { class: 'choices', role: 'group', 'aria-label': 'Coin' }, buttons);
}

/** @param {AbortSignal} signal */
function newestBlocks(signal) {
  return listPanel({
    title: 'Newest blocks',
    tool: 'list_blocks',
    args: { limit: 10 },
    noun: 'blocks',
    columns: ['height', 'time', 'transactionCount', 'minterAddress'],
    signal,
    follows: true,
  });
}

/** @param {AbortSignal} signal */
function newestTransactions(signal) {
  return listPanel({
    title: 'Newest transactions',
    tool: 'search_transactions',
    args: { limit: 10 },
    noun: 'transactions',
    columns: ['time', 'type', 'amount', 'signature'],
    signal,
    follows: true,
  });
}
