// An answer as elements: the little Markdown that models write, and each claim marked with where it comes from.
// Everything works on places in the text as it came, so that marks stay where the server has found them.

import { element } from '../element.js';
import { looksLike, pageOf } from '../links.js';

/** @typedef {import('../element.js').Child} Child */
/** @typedef {import('./memory.js').Grounding} Grounding */
/** @typedef {{start: number, end: number, shown: (text: string) => Child}} Mark */
/** @typedef {{start: number, end: number}} Range */

const INLINE = /\*\*(?=\S)([^*\n]+?)\*\*|`([^`\n]+)`/g;
const BULLET = /^\s*[-*•]\s+(?=\S)/;
const NUMBERED = /^\s*[0-9]{1,3}[.)]\s+(?=\S)/;
const HEADING = /^\s*#{1,6}\s+(?=\S)/;
const ROW = /^\s*\|.*\|\s*$/;
const RULE = /^\s*\|[\s:|-]+\|\s*$/;
const FENCE = /^\s*```/;
// A table that a person reads; what is larger is shown as it is written.
const MOST_COLUMNS = 30;
const MOST_ROWS = 500;
// Elements of one answer: a browser lays out more of them for seconds. A long answer has some hundred.
const MOST_ELEMENTS = 5000;

/**
 * @param {string} answer
 * @param {Grounding} grounding
 * @param {(call: number, text: string) => void} follow shows the call that a claim comes from
 * @returns {Child}
 */
export function answerOf(answer, grounding, follow) {
  const marks = marksOf(answer, grounding, follow);
  return elementsIn(answer, marks) > MOST_ELEMENTS
    ? element('pre', {}, answer)
    : new Written(answer, marks).blocks();
}

/** How many elements an answer may become at most, as far as that can be seen without making them. @param {string} answer @param {Mark[]} marks */
function elementsIn(answer, marks) {
  let count = 2 * marks.length;
  for (const _ of answer.matchAll(/\n|\*\*|`/g)) count += 1;
  for (const line of answer.split('\n')) if (ROW.test(line)) count += 2 * line.split('|').length;
  return count;
}

/**
 * What is shown in the place of each claim, in their order.
 * @param {string} answer @param {Grounding} grounding @param {(call: number, text: string) => void} follow
 * @returns {Mark[]}
 */
function marksOf(answer, grounding, follow) {
  const at = unitsOf(answer);
  /** @type {Mark[]} */
  const marks = [
    ...grounding.fromCalls.map((claim) => ({
      start: at(claim.start),
      end: at(claim.end),
      shown: (/** @type {string} */ text) => traced(text, claim.text, claim.calls ?? [], follow),
    })),
    ...grounding.notFromATool.map((claim) => ({
      start: at(claim.start),
      end: at(claim.end),
      shown: (/** @type {string} */ text) => unfound(text, claim.inQuestion ?? false),
    })),
  ];
  return marks.sort((one, other) => one.start - other.start);
}

/** The server counts characters, JavaScript counts halves of some of them. @param {string} text @returns {(at: number) => number} */
function unitsOf(text) {
  const starts = [0];
  for (const character of text) starts.push((starts.at(-1) ?? 0) + character.length);
  return (at) => starts[at] ?? text.length;
}

/** @param {string} text @param {string} whole @param {number[]} calls @param {(call: number, text: string) => void} follow @returns {Child} */
function traced(text, whole, calls, follow) {
  const [first] = calls;
  if (first === undefined) {
    const origin = 'from an earlier question, or from several calls together';
    return element('span', { title: origin }, text, element('span', { class: 'unseen' }, ` (${origin})`));
  }
  const from = calls.map((call) => call + 1).join(', ');
  const title = `From call ${from}`;
  const button = element(
    'button',
    { type: 'button', class: 'traced', title, onclick: () => follow(first, whole) },
    text,
  );
  const href = pageOfThing(whole);
  return href
    ? [button, element('a', { href, class: 'page-of', 'aria-label': `Page of ${whole}` }, '↗')]
    : button;
}

/** @param {string} text @param {boolean} isInQuestion */
function unfound(text, isInQuestion) {
  const why = isInQuestion ? 'in your question' : 'not from a tool';
  return element(
    'span',
    { class: isInQuestion ? 'unfound asked' : 'unfound', title: why },
    text,
    element('span', { class: 'unseen' }, ` (${why})`),
  );
}

/** @param {string} text */
function pageOfThing(text) {
  if (looksLike.account(text)) return pageOf('account', text);
  if (looksLike.contract(text)) return pageOf('contract', text);
  if (looksLike.block(text)) return pageOf('block', text);
  return looksLike.transaction(text) ? pageOf('transaction', text) : null;
}

/** A text, and the marks in it. */
class Written {
  /** @param {string} text @param {Mark[]} marks */
  constructor(text, marks) {
    this.text = text;
    this.marks = marks;
    this.next = 0;
  }

  /** @returns {Child[]} */
  blocks() {
    const lines = this.lines();
    /** @type {Child[]} */
    const made = [];
    for (let at = 0; at < lines.length;) {
      const first = this.of(lines[at]);
      const count = this.length(lines, at);
      const block = lines.slice(at, at + count);
      at += count;
      if (!first.trim()) continue;
      if (FENCE.test(first)) made.push(this.fenced(block));
      else if (isTable(this.of(block[0]), this.of(block[1])))
        made.push(this.isReadable(block) ? this.table(block) : this.asWritten(block));
      else if (BULLET.test(first)) made.push(element('ul', {}, this.items(block, BULLET)));
      else if (NUMBERED.test(first)) made.push(this.numbered(block));
      else if (HEADING.test(first))
        made.push(element('p', { class: 'heading' }, this.items(block, HEADING, 'strong')));
      else
        made.push(
          element(
            'p',
            {},
            block.map((line, number) => [number ? element('br') : null, this.inline(line)]),
          ),
        );
    }
    return made;
  }

  /** How many lines belong to the block that begins at a line. @param {Range[]} lines @param {number} at */
  length(lines, at) {
    const first = this.of(lines[at]);
    if (FENCE.test(first)) {
      let end = at + 1;
      while (end < lines.length && !FENCE.test(this.of(lines[end]))) end += 1;
      return Math.min(end + 1, lines.length) - at;
    }
    const same = isTable(first, this.of(lines[at + 1]))
      ? ROW
      : [BULLET, NUMBERED].find((kind) => kind.test(first));
    if (HEADING.test(first) || !first.trim()) return 1;
    let count = 1;
    while (at + count < lines.length) {
      const line = this.of(lines[at + count]);
      if (same ? !same.test(line) : !line.trim() || startsBlock(line, this.of(lines[at + count + 1]))) break;
      count += 1;
    }
    return count;
  }

  lines() {
    /** @type {Range[]} */
    const found = [];
    let start = 0;
    for (const line of this.text.split('\n')) {
      found.push({ start, end: start + line.length });
      start += line.length + 1;
    }
    return found;
  }

  /** @param {Range | undefined} range */
  of(range) {
    return range ? this.text.slice(range.start, range.end) : '';
  }

  /** @param {Range[]} lines */
  fenced(lines) {
    const inner = lines.slice(1, lines.length > 1 && FENCE.test(this.of(lines.at(-1))) ? -1 : undefined);
    return this.asWritten(inner);
  }

  /** @param {Range[]} lines */
  asWritten(lines) {
    const [first] = lines;
    return element(
      'pre',
      {},
      first ? this.pieces({ start: first.start, end: lines.at(-1)?.end ?? first.end }) : null,
    );
  }

  /** Whether a table is one that a person reads. @param {Range[]} lines */
  isReadable(lines) {
    const widest = Math.max(...lines.slice(0, MOST_ROWS).map((line) => this.of(line).split('|').length - 2));
    return lines.length <= MOST_ROWS + 2 && widest <= MOST_COLUMNS;
  }

  /** @param {Range[]} lines */
  numbered(lines) {
    const start = Number.parseInt(this.of(lines[0]).trim(), 10);
    return element('ol', { start }, this.items(lines, NUMBERED));
  }

  /** @param {Range[]} lines @param {RegExp} lead @param {'li' | 'strong'} [tag] */
  items(lines, lead, tag = 'li') {
    return lines.map((line) => {
      const skipped = lead.exec(this.of(line))?.[0].length ?? 0;
      return element(tag, {}, this.inline({ start: line.start + skipped, end: line.end }));
    });
  }

  /** @param {Range[]} lines */
  table(lines) {
    const [head, , ...rows] = lines;
    const cells = head ? this.cells(head) : [];
    const labels = cells.map((cell) => this.of(cell).trim());
    return element(
      'div',
      { class: 'body' },
      element(
        'table',
        {},
        element(
          'thead',
          {},
          element(
            'tr',
            {},
            cells.map((cell) => element('th', { scope: 'col' }, this.inline(cell))),
          ),
        ),
        element(
          'tbody',
          {},
          rows.map((row) =>
            element(
              'tr',
              {},
              this.cells(row).map((cell, at) =>
                element('td', { 'data-label': labels[at] ?? '' }, element('span', {}, this.inline(cell))),
              ),
            ),
          ),
        ),
      ),
    );
  }

  /** @param {Range} row */
  cells(row) {
    const line = this.of(row);
    const first = line.indexOf('|') + 1;
    /** @type {Range[]} */
    const found = [];
    let start = row.start + first;
    for (const cell of line.slice(first, line.lastIndexOf('|')).split('|')) {
      const lead = cell.length - cell.trimStart().length;
      found.push({ start: start + lead, end: start + Math.max(lead, cell.trimEnd().length) });
      start += cell.length + 1;
    }
    return found;
  }

  /** Bold and code within a range. @param {Range} range @returns {Child[]} */
  inline({ start, end }) {
    /** @type {Child[]} */
    const made = [];
    let at = start;
    for (const found of this.text.slice(start, end).matchAll(INLINE)) {
      const from = start + found.index;
      const width = found[1] === undefined ? 1 : 2;
      const inner = { start: from + width, end: from + found[0].length - width };
      made.push(
        this.pieces({ start: at, end: from }),
        element(width === 2 ? 'strong' : 'code', {}, this.pieces(inner)),
      );
      at = from + found[0].length;
    }
    made.push(this.pieces({ start: at, end }));
    return made;
  }

  /** A range with its marks. Ranges come in order, so that the marks are gone through once. @param {Range} range @returns {Child[]} */
  pieces({ start, end }) {
    /** @type {Child[]} */
    const made = [];
    let at = start;
    for (;;) {
      const mark = this.marks[this.next];
      if (!mark || mark.start >= end) break;
      const from = Math.max(at, mark.start);
      const to = Math.min(mark.end, end);
      if (to > from) {
        made.push(this.text.slice(at, from), mark.shown(this.text.slice(from, to)));
        at = to;
      }
      if (mark.end > end) break; // the rest of it is in the next range
      this.next += 1;
    }
    made.push(this.text.slice(at, end));
    return made;
  }
}

/** @param {string} line @param {string} after */
function isTable(line, after) {
  return ROW.test(line) && RULE.test(after);
}

/** @param {string} line @param {string} after */
function startsBlock(line, after) {
  return [BULLET, NUMBERED, HEADING, FENCE].some((kind) => kind.test(line)) || isTable(line, after);
}
