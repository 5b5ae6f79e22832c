// The calls of an answer, one line each, that open to what was asked and what came back.

import { copyButton, download, element, fill } from '../element.js';
import { size } from '../format.js';
import { print } from '../json.js';
import { toolPage } from '../links.js';

/** @typedef {import('./memory.js').Call} Call */

const SHOWN_ARGUMENTS = 80;
const SHOWN_RESULT = 100_000;
// What hides text, or changes its order.
const HIDDEN =
  /[\p{Cf}\p{Co}\p{Cs}\u034f\ufe00-\ufe0e\u{e0100}-\u{e01ef}\u115f\u1160\u2028\u2029\u2800\u3164\uffa0]|(?![\n\t])\p{Cc}/gu;

/** The list of calls of one answer. */
export class CallList {
  constructor() {
    this.element = element('ol', { class: 'calls' });
    /** @type {{key: string, line: HTMLElement}[]} */
    this.waiting = [];
    /** @type {OpenCall[]} */
    this.calls = [];
  }

  /** @param {string} tool @param {unknown} args */
  begin(tool, args) {
    const line = element('li', { class: 'waiting' }, summaryOf(tool, args), '…');
    this.waiting.push({ key: keyOf(tool, args), line });
    this.element.append(line);
  }

  /** @param {Call} call */
  add(call) {
    const key = keyOf(call.tool, call.arguments);
    const at = this.waiting.findIndex((one) => one.key === key);
    if (at >= 0) this.waiting.splice(at, 1)[0]?.line.remove();
    const opened = new OpenCall(call);
    this.calls.push(opened);
    const line = element('li', {}, opened.element);
    const [next] = this.waiting;
    if (next) next.line.before(line);
    else this.element.append(line);
  }

  /** Nothing is waited for any longer. */
  end() {
    for (const { line } of this.waiting) line.remove();
    this.waiting = [];
  }

  /** Open a call and go there. @param {number} number @param {string} text what is looked for in its result */
  follow(number, text) {
    for (const call of this.calls) call.element.classList.remove('followed');
    this.calls[number]?.follow(text);
  }
}

/** @param {string} tool @param {unknown} args */
function keyOf(tool, args) {
  return `${tool} ${print(args)}`;
}

/** Arguments as a model wrote them, with nothing hidden in them. @param {unknown} args @param {number} [indent] */
function written(args, indent) {
  const text = typeof args === 'string' ? args : print(args, indent);
  return text.replace(HIDDEN, (hidden) => {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `\\u{${code.padStart(4, '0')}}`;
  });
}

/** @param {string} tool @param {unknown} args */
function summaryOf(tool, args) {
  const whole = written(args);
  const short = whole.length > SHOWN_ARGUMENTS ? `${whole.slice(0, SHOWN_ARGUMENTS)}…` : whole;
  return [
    element('span', { class: 'tool' }, tool),
    ' ',
    whole === '{}' ? null : [element('code', {}, short), ' '],
  ];
}

/** One call. */
class OpenCall {
  /** @param {Call} call */
  constructor(call) {
    this.call = call;
    this.result = element('pre', { tabindex: '0', 'aria-label': `Result of ${call.tool}` });
    this.summary = element(
      'summary',
      {},
      summaryOf(call.tool, call.arguments),
      element('span', { class: call.ok ? 'faint figure' : 'bad figure' }, outcomeOf(call)),
    );
    this.element = element('details', { class: 'call' }, this.summary);
    this.element.addEventListener('toggle', () => this.show(), { once: true });
  }

  /** What is inside is made when it is first looked at. */
  show() {
    if (this.result.isConnected) return;
    const { call } = this;
    const args = written(call.arguments, 2);
    fill(this.result, call.text.slice(0, SHOWN_RESULT));
    this.element.append(
      element('h3', {}, 'Arguments'),
      element('pre', {}, args),
      element('h3', {}, call.ok ? 'Result, as the model got it' : 'Error'),
      this.result,
      ...remarksOf(call),
      element(
        'p',
        { class: 'row' },
        copyButton(call.text, 'Copy the result'),
        call.text.length > SHOWN_RESULT
          ? download('Download all of it', `${call.tool}.txt`, call.text, 'text/plain')
          : '',
        element('a', { href: toolPage(call.tool, print(call.arguments)) }, 'Open in Tools'),
      ),
    );
  }

  /** @param {string} text */
  follow(text) {
    this.element.open = true;
    this.show();
    this.element.classList.add('followed');
    const shown = this.call.text.slice(0, SHOWN_RESULT);
    const at = shown.indexOf(text);
    const mark = element('mark', {}, text);
    if (at >= 0) fill(this.result, shown.slice(0, at), mark, shown.slice(at + text.length));
    this.summary.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: 'nearest' });
    if (at >= 0)
      this.result.scrollTop = mark.offsetTop - this.result.offsetTop - this.result.clientHeight / 2;
  }
}

/** @param {Call} call */
function outcomeOf(call) {
  if (call.repeated) return 'the same call again';
  const ms = Number(String(call.ms ?? 0));
  const took = ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms)} ms`;
  return call.ok ? `${took} · ${size(call.bytes ?? 0)}` : `failed · ${took}`;
}

/** @param {Call} call */
function remarksOf(call) {
  const got = new TextEncoder().encode(call.text).length;
  const remarks = [
    (call.bytes ?? 0) > got
      ? `The whole result has ${size(call.bytes ?? 0)}; the model got this much of it.`
      : '',
    call.written ? 'The model wrote this call as text instead of making it; it was made anyway.' : '',
    ...(call.warnings ?? []),
  ];
  return remarks.filter(Boolean).map((text) => element('p', { class: 'help' }, text));
}
