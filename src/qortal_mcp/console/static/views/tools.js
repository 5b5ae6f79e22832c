// Every tool with a form, its answer for reading, and the exchange as it went over the wire.

import { announce, copyButton, element, fill } from '../element.js';
import { ago, grouped } from '../format.js';
import { parse, print } from '../json.js';
import { pageOf, toolPage } from '../links.js';
import { current } from '../live.js';
import { failure } from '../panel.js';
import { origin, readable } from '../readable.js';
import { asCommand, asCurl, asLink } from '../tools/copies.js';
import { ArgumentForm, isArguments } from '../tools/form.js';
import { forget, keep, keptCalls, madeCalls, remember } from '../tools/kept.js';
import { rawExchange } from '../tools/raw.js';
import { REVISIONS, compose, hasLeft, resultOf, send, token, tools } from '../wire.js';

/** @typedef {import('../wire.js').Definition} Definition */
/** @typedef {import('../wire.js').Exchange} Exchange */

/** What a person chose stays chosen from one call to the next. */
const chosen = { revision: REVISIONS[0] ?? '', isRaw: false, hasJustRun: false, filter: '' };

/** @type {import('../main.js').View} */
export const view = {
  title: ({ parts: [name] }) => (name ? `Tool ${name}` : 'Tools'),
  async show(place, { parts: [name], query }, signal) {
    const all = await tools();
    const tool = all.find((one) => one.name === name);
    const detail = element('div', { class: 'tool' });
    fill(
      place,
      element(
        'div',
        { class: 'beside' },
        element('div', {}, menu(all, name), keptPart(), historyPart()),
        detail,
      ),
    );
    if (tool) toolPart(detail, tool, argumentsFrom(query), query.has('args'), signal);
    else if (name)
      fill(
        detail,
        element(
          'p',
          { class: 'failed' },
          `This server offers no tool ${name}. Its toolset may be switched off: --toolsets says which are on.`,
        ),
      );
    else
      fill(
        detail,
        element(
          'p',
          {},
          'All of them only read. Each call shows its answer, the exchange behind it and the command for it.',
        ),
        element(
          'dl',
          { class: 'described' },
          all.map((one) => [
            element('dt', {}, element('a', { href: pageOf('tools', one.name) }, one.name)),
            element('dd', {}, one.description),
          ]),
        ),
      );
  },
};

/** @param {URLSearchParams} query @returns {{value: Record<string, any>, problem: string}} */
function argumentsFrom(query) {
  try {
    const value = parse(query.get('args') ?? '{}');
    if (!isArguments(value)) throw new Error('Arguments are an object.');
    return { value, problem: '' };
  } catch (error) {
    return {
      value: {},
      problem: `The arguments in this address cannot be read: ${error instanceof Error ? error.message : error}`,
    };
  }
}

/** @param {Definition[]} all @param {string | undefined} current */
function menu(all, current) {
  const list = element('ul', { class: 'menu' });
  const show = () => {
    const wanted = chosen.filter.toLowerCase();
    const fitting = all.filter(({ name, title = '', description }) =>
      `${name} ${title} ${description}`.toLowerCase().includes(wanted),
    );
    fill(
      list,
      fitting.map(({ name, title }) =>
        element(
          'li',
          {},
          element(
            'a',
            {
              href: pageOf('tools', name),
              title: title ?? null,
              'aria-current': name === current ? 'page' : null,
            },
            name,
          ),
        ),
      ),
    );
  };
  const filter = element('input', {
    type: 'search',
    placeholder: `Filter ${all.length} tools`,
    'aria-label': 'Filter the tools',
    value: chosen.filter,
  });
  filter.addEventListener('input', () => {
    chosen.filter = filter.value;
    show();
  });
  show();
  return element(
    'details',
    { class: 'chooser', open: matchMedia('(min-width: 50rem)').matches || !current },
    element('summary', {}, 'Tools'),
    filter,
    list,
  );
}

/** @param {HTMLElement} place @param {Definition} tool @param {{value: Record<string, any>, problem: string}} given @param {boolean} runs @param {AbortSignal} signal */
function toolPart(place, tool, given, runs, signal) {
  const copies = element('div', { class: 'copies' });
  const result = element('section', { class: 'result', 'aria-label': 'Answer' });
  const sayCopies = () => fill(copies, copiesOf(tool, form.value));
  const form = new ArgumentForm(tool.inputSchema, given.value, () => sayCopies());
  const start = () => {
    const href = toolPage(tool.name, print(form.value));
    chosen.hasJustRun = true;
    if (location.hash === href) run(result, tool, form.value, signal);
    else location.hash = href;
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (form.problem) form.fields.querySelector('textarea')?.focus();
    else if (form.marksMissing()) announce('A required argument is missing.', true);
    else start();
  };
  sayCopies();
  fill(
    place,
    element('p', {}, tool.description),
    given.problem ? element('p', { class: 'failed', role: 'alert' }, given.problem) : null,
    element(
      'form',
      { onsubmit: submit, novalidate: true },
      form.place,
      element('div', { class: 'row' }, element('button', { class: 'main' }, 'Call'), revisions(sayCopies)),
    ),
    copies,
    keeper(tool, form),
    result,
  );
  if (runs && !given.problem) run(result, tool, given.value, signal);
}

/** @param {() => void} onChange */
function revisions(onChange) {
  const select = element(
    'select',
    {},
    REVISIONS.map((revision) => element('option', { selected: revision === chosen.revision }, revision)),
  );
  select.addEventListener('change', () => {
    chosen.revision = select.value;
    onChange();
  });
  return element('label', { class: 'inline' }, 'Revision ', select);
}

/** @param {Definition} tool @param {Record<string, any>} value */
function copiesOf(tool, value) {
  const request = compose('tools/call', { name: tool.name, arguments: value }, chosen.revision);
  return [
    element('span', { class: 'faint' }, 'Copy as '),
    copyButton(asCurl(request, token.isSet), 'curl'),
    copyButton(() => asCommand(tool.name, value, current()), 'command'),
    copyButton(asLink(tool.name, value), 'link'),
  ];
}

/** @param {Definition} tool @param {ArgumentForm} form */
function keeper(tool, form) {
  const name = element('input', {
    type: 'text',
    maxlength: 80,
    required: true,
    'aria-label': 'Name for this call',
    placeholder: 'a name for this call',
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!name.value.trim()) return;
    keep({ name: name.value.trim(), tool: tool.name, args: print(form.value) });
    announce(`Kept as ${name.value.trim()}`);
    name.value = '';
    document.querySelector('.kept')?.replaceWith(keptPart());
  };
  return element('form', { class: 'row keeper', onsubmit: submit }, name, element('button', {}, 'Keep'));
}

function keptPart() {
  const rows = keptCalls().map(({ name, tool, args }) => {
    const drop = () => {
      forget(name);
      document.querySelector('.kept')?.replaceWith(keptPart());
    };
    return element(
      'li',
      {},
      element('a', { href: toolPage(tool, args) }, name),
      ' ',
      element('span', { class: 'faint' }, tool),
      element(
        'button',
        { type: 'button', class: 'quiet', 'aria-label': `Forget ${name}`, onclick: drop },
        '×',
      ),
    );
  });
  return element(
    'details',
    { class: 'kept', open: true, hidden: !rows.length },
    element('summary', {}, 'Kept calls'),
    element('ul', { class: 'menu' }, rows),
  );
}

function historyPart() {
  const rows = madeCalls().map(({ tool, args, time, ms, isGood }) =>
    element(
      'li',
      {},
      element('a', { href: toolPage(tool, args), title: args }, tool),
      ' ',
      element(
        'span',
        { class: isGood ? 'faint' : 'bad' },
        `${isGood ? '' : 'failed, '}${Math.round(ms)} ms, ${ago(time)}`,
      ),
    ),
  );
  return element(
    'details',
    { class: 'history', hidden: !rows.length },
    element('summary', {}, `Calls of this tab (${rows.length})`),
    element('ul', { class: 'menu' }, rows),
  );
}

/** Make a call and show it. @param {HTMLElement} place @param {Definition} tool @param {Record<string, any>} args @param {AbortSignal} signal */
async function run(place, tool, args, signal) {
  const wantsFocus = chosen.hasJustRun;
  chosen.hasJustRun = false;
  place.setAttribute('aria-busy', 'true');
  fill(place, element('p', { class: 'waiting' }, 'Calling …'));
  /** @type {Exchange} */
  let exchange;
  try {
    exchange = await send(compose('tools/call', { name: tool.name, arguments: args }, chosen.revision), {
      signal,
    });
  } catch (error) {
    if (!hasLeft(error))
      fill(
        place,
        failure(error, () => run(place, tool, args, signal)),
      );
    return;
  }
  const outcome = outcomeOf(exchange);
  remember({
    tool: tool.name,
    args: print(args),
    time: Date.now(),
    ms: exchange.ms,
    isGood: outcome.answer !== null,
  });
  document.querySelector('.history')?.replaceWith(historyPart());
  showOutcome(place, tool, args, exchange, outcome);
  place.setAttribute('aria-busy', 'false');
  if (wantsFocus) place.querySelector('h2')?.focus();
}

/** @typedef {{answer: Record<string, any> | null, error: unknown}} Outcome */

/** @param {Exchange} exchange @returns {Outcome} */
function outcomeOf(exchange) {
  try {
    return { answer: resultOf(exchange).structuredContent, error: null };
  } catch (error) {
    return { answer: null, error };
  }
}

/** @param {HTMLElement} place @param {Definition} tool @param {Record<string, any>} args @param {Exchange} exchange @param {Outcome} outcome */
function showOutcome(place, tool, args, exchange, outcome) {
  const { answer, error } = outcome;
  const body = element('div', { class: 'body' });
  const sides = element('div', { class: 'choices', role: 'group', 'aria-label': 'How to show the answer' });
  const show = () => {
    const side = (/** @type {string} */ words, /** @type {boolean} */ isRaw) =>
      element(
        'button',
        {
          type: 'button',
          'aria-pressed': String(chosen.isRaw === isRaw),
          onclick: () => ((chosen.isRaw = isRaw), show()),
        },
        words,
      );
    fill(sides, side('Readable', false), side('Raw', true));
    if (chosen.isRaw) fill(body, rawExchange(exchange, asCurl(exchange.request, token.isSet)));
    else fill(body, answer ? shownAnswer(answer) : failure(error));
  };
  show();
  fill(
    place,
    element('h2', { tabindex: '-1' }, answer ? 'Answer' : 'Failed'),
    sides,
    body,
    answer ? pages(tool, args, answer) : null,
  );
}

/** An answer that cannot be shown for reading is still there as it came. @param {Record<string, any>} answer */
function shownAnswer(answer) {
  try {
    return readable(answer);
  } catch (error) {
    return failure(error);
  }
}

/** @param {Definition} tool @param {Record<string, any>} args @param {Record<string, any>} answer */
function pages(tool, args, answer) {
  const { returned, next } = answer.page ?? {};
  const first = (typeof args.offset === 'number' ? args.offset : 0) + 1;
  const rows = !returned ? '' : `Rows ${grouped(first)} to ${grouped(first + returned - 1)} · `;
  const button = next
    ? element(
        'a',
        {
          class: 'button',
          rel: 'next',
          href: toolPage(tool.name, print(next)),
          onclick: () => (chosen.hasJustRun = true),
        },
        'Next page',
      )
    : null;
  return element('footer', { class: 'row' }, button, element('span', {}, rows, origin(answer)));
}
