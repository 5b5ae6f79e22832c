// Charts, drawn as SVG. Each says in words what it shows, and is drawn from numbers that stand beside it.

import { drawn, element, fill } from './element.js';
import { when } from './format.js';

const HEIGHT = 180;
const LEFT = 6;
// Room for the numbers of the scale.
const RIGHT = 64;
const TOP = 12;
const BOTTOM = 22;
const TICKS = 3;

/**
 * Small upright bars, one a value, oldest first.
 * @param {number[]} values
 * @param {string} label what a person who cannot see them is told
 */
export function sparkBars(values, label) {
  const most = Math.max(...values, 1e-9);
  const bars = values.map((value, at) => {
    const height = Math.max((value / most) * 30, value > 0 ? 1 : 0);
    return drawn('rect', { x: at * 4, y: 30 - height, width: 3, height });
  });
  const width = values.length * 4 - 1;
  bars.push(drawn('line', { class: 'base', x1: 0, x2: width, y1: 30.5, y2: 30.5 }));
  const box = `0 0 ${width} 31`;
  return drawn(
    'svg',
    { class: 'spark', viewBox: box, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    bars,
  );
}

/**
 * Named counts with a bar each, as a table that can be read without the bars.
 * @param {string} caption
 * @param {{name: string, count: number, words?: string}[]} rows
 */
export function namedBars(caption, rows) {
  const most = Math.max(...rows.map((row) => row.count), 1);
  return element(
    'table',
    { class: 'bars' },
    element('caption', { class: 'unseen' }, caption),
    element(
      'tbody',
      {},
      rows.map(({ name, count, words }) =>
        element(
          'tr',
          {},
          element('th', { scope: 'row' }, name),
          element('td', { class: 'right figure' }, words ?? count),
          element('td', { class: 'bar', 'aria-hidden': 'true' }, bar(count / most)),
        ),
      ),
    ),
  );
}

/** @param {number} share from 0 to 1 */
function bar(share) {
  return drawn('svg', {}, drawn('rect', { width: `${(100 * share).toFixed(1)}%`, height: '100%', rx: 1 }));
}

/** @typedef {{time: number, value: number, words: string}} Point */

/**
 * A line over time. The point under the pointer is told in words; arrow keys move from point to point.
 */
export class LineChart extends HTMLElement {
  /** @type {Point[]} */
  #points = [];
  #at = -1;
  #sizes = new ResizeObserver(() => this.#draw());
  #picture = drawn('svg', { 'aria-hidden': 'true' });
  #words = element('output', { class: 'chart-words' });

  /** @param {Point[]} points in the order of time @param {string} label */
  show(points, label) {
    this.#points = points;
    this.#at = -1;
    this.setAttribute('role', 'slider');
    this.setAttribute('tabindex', '0');
    this.setAttribute('aria-label', label);
    this.setAttribute('aria-valuemin', '1');
    this.setAttribute('aria-valuemax', String(points.length));
    this.#choose(points.length - 1);
    return this;
  }

  connectedCallback() {
    fill(this, this.#words, this.#picture);
    this.#sizes.observe(this);
    this.addEventListener('pointermove', (event) =>
      this.#choose(this.#nearest(event.clientX - this.getBoundingClientRect().left)),
    );
    this.addEventListener('pointerleave', () => this.#choose(this.#points.length - 1));
    this.addEventListener('keydown', (event) => {
      const last = this.#points.length - 1;
      const steps = { ArrowLeft: this.#at - 1, ArrowRight: this.#at + 1, Home: 0, End: last };
      const next = steps[/** @type {keyof typeof steps} */ (event.key)];
      if (next === undefined) return;
      event.preventDefault();
      this.#choose(Math.min(Math.max(next, 0), last));
    });
    this.#draw();
  }

  disconnectedCallback() {
    this.#sizes.disconnect();
  }

  /** @param {number} at */
  #choose(at) {
    const point = this.#points[at];
    if (!point || at === this.#at) return;
    this.#at = at;
    const words = `${when(point.time)} · ${point.words}`;
    this.#words.textContent = words;
    this.setAttribute('aria-valuenow', String(at + 1));
    this.setAttribute('aria-valuetext', words);
    this.#draw();
  }

  #scale() {
    const times = this.#points.map((point) => point.time);
    const values = this.#points.map((point) => point.value);
    const [first, last, least, most] = [
      Math.min(...times),
      Math.max(...times),
      Math.min(...values),
      Math.max(...values),
    ];
    const width = Math.max(this.clientWidth - LEFT - RIGHT, 40);
    const room = most - least || most || 1;
    const floor = most === least ? least - room / 2 : least;
    return {
      least: floor,
      most: floor + room,
      x: (/** @type {number} */ time) => LEFT + ((time - first) / (last - first || 1)) * width,
      y: (/** @type {number} */ value) => TOP + (1 - (value - floor) / room) * (HEIGHT - TOP - BOTTOM),
    };
  }

  /** @param {number} offset */
  #nearest(offset) {
    const { x } = this.#scale();
    const distances = this.#points.map((point) => Math.abs(x(point.time) - offset));
    return distances.indexOf(Math.min(...distances));
  }

  #draw() {
    if (!this.isConnected || !this.#points.length) return;
    const { least, most, x, y } = this.#scale();
    const right = Math.max(this.clientWidth - RIGHT, 40);
    const ticks = Array.from({ length: TICKS }, (_, at) => least + ((most - least) * at) / (TICKS - 1));
    const chosen = this.#points[this.#at];
    const [first, last] = [this.#points[0], this.#points.at(-1)];
    this.#picture.setAttribute('height', String(HEIGHT));
    this.#picture.setAttribute('width', String(Math.max(this.clientWidth, 40)));
    fill(
      this.#picture,
      ticks.map((tick) => [
        drawn('line', { class: 'grid', x1: LEFT, x2: right, y1: y(tick), y2: y(tick) }),
        drawn('text', { x: right + 6, y: y(tick) + 4 }, readableTick(tick)),
      ]),
      this.#points.map(({ time, value }) =>
        drawn('circle', { class: 'trade', cx: x(time), cy: y(value), r: 2 }),
      ),
      drawn('polyline', {
        points: this.#points.map(({ time, value }) => `${x(time)},${y(value)}`).join(' '),
      }),
      first && drawn('text', { x: LEFT, y: HEIGHT - 6 }, when(first.time).slice(0, 16)),
      last &&
        last !== first &&
        drawn('text', { x: right, y: HEIGHT - 6, 'text-anchor': 'end' }, when(last.time).slice(0, 16)),
      chosen && [
        drawn('line', {
          class: 'cursor',
          x1: x(chosen.time),
          x2: x(chosen.time),
          y1: TOP,
          y2: HEIGHT - BOTTOM,
        }),
        drawn('circle', { cx: x(chosen.time), cy: y(chosen.value), r: 4 }),
      ],
    );
  }
}

/** A tick is only a mark on a scale: three digits tell enough. @param {number} value */
function readableTick(value) {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 8));
}

customElements.define('line-chart', LineChart);

/**
 * A line chart with its points.
 * @param {Point[]} points
 * @param {string} label
 */
export function lineChart(points, label) {
  return /** @type {LineChart} */ (document.createElement('line-chart')).show(points, label);
}
