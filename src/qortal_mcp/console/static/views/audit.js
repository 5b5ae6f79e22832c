// Audit: what is wrong with an MCP server at an address, as it is found, and the report to keep.

import { announce, copyButton, download, element, fill } from '../element.js';
import { print } from '../json.js';
import { failure } from '../panel.js';
import { address, events, getJson, hasLeft, token } from '../wire.js';
import { findingGroups, reportHead, reportRest } from '../audit/report.js';
import { withToken } from '../audit/terminal.js';

/** @typedef {import('../audit/report.js').Finding} Finding */
/** @typedef {import('../audit/report.js').Report} Report */
/** @typedef {{type: 'progress', text: string}} Progress */
/** @typedef {{type: 'finding', finding: Finding}} Found */
/** @typedef {{type: 'ended', report: Report, markdown: string}} Ended */
/** @typedef {{type: 'failed', error: string}} Failed */
/** @typedef {Progress | Found | Ended | Failed} AuditEvent */
/** @typedef {{state: HTMLElement, results: HTMLElement}} Places */

const PATH = 'console/audit';
const SWITCH_ON = 'qortal-mcp serve --audit-targets loopback';
const ALLOWED = {
  loopback:
    'Only servers on the machine that this server runs on can be audited: 127.0.0.1, [::1] or localhost.',
  any: 'Any server that this server can reach can be audited.',
};

/** @type {import('../main.js').View} */
export const view = {
  title: 'Audit',
  async show(place, route, signal) {
    const { targets } = /** @type {{targets: 'off' | keyof typeof ALLOWED}} */ (
      await getJson(PATH, { signal })
    );
    if (targets === 'off') fill(place, switchedOff());
    else
      fill(
        place,
        introduction(),
        auditor(route.query.get('url') ?? address('mcp'), ALLOWED[targets], signal),
      );
  },
};

function switchedOff() {
  return element(
    'section',
    { class: 'panel' },
    element(
      'p',
      {},
      'Audits are switched off on this server. Whoever runs it switches them on, for servers on its own machine, with',
    ),
    element('pre', {}, SWITCH_ON),
    copyButton(SWITCH_ON),
    element(
      'p',
      {},
      'In a terminal, any server can be audited: ',
      element('code', {}, 'qortal-mcp audit URL'),
    ),
  );
}

function introduction() {
  return element(
    'p',
    { class: 'help' },
    'Visits an MCP server in every revision that it speaks and says what is wrong on the wire, which clients break on it, and how to fix it. ',
    'Only tools that declare themselves read-only and need no arguments are called.',
  );
}

/**
 * The form, and below it what the audit that it starts has found.
 * @param {string} url @param {string} allowed @param {AbortSignal} signal
 */
function auditor(url, allowed, signal) {
  const input = element('input', {
    id: 'audit-url',
    type: 'url',
    required: true,
    maxlength: 2000,
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-describedby': 'audit-allowed',
  });
  input.value = url;
  const start = element('button', { class: 'main' }, 'Start');
  const stop = element('button', { type: 'button', disabled: true }, 'Stop');
  const places = {
    state: element('p', { class: 'audit-state', 'aria-live': 'polite' }),
    results: element('div', { class: 'audit-results' }),
  };
  let stopping = new AbortController();
  stop.addEventListener('click', () => stopping.abort());
  // What is shown belongs to an address that was audited.
  input.addEventListener('invalid', () => (fill(places.state), fill(places.results)));

  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    stopping = new AbortController();
    const target = input.value.trim();
    history.replaceState(null, '', `#/audit?url=${encodeURIComponent(target)}`);
    start.disabled = true;
    stop.disabled = false;
    await run(target, places, AbortSignal.any([signal, stopping.signal]));
    start.disabled = false;
    stop.disabled = true;
  };
  return [
    element(
      'form',
      { class: 'panel audit-form', onsubmit: submit },
      element('label', { for: input.id }, 'Address of the server'),
      element('div', { class: 'row' }, input, start, stop),
      element('p', { class: 'help', id: 'audit-allowed' }, allowed),
      token.isSet ? withToken(address('mcp')) : null,
    ),
    places.state,
    places.results,
  ];
}

/**
 * One audit, from its start to its report, or to why there is none.
 * @param {string} url @param {Places} places @param {AbortSignal} signal
 */
async function run(url, { state, results }, signal) {
  const early = new EarlyFindings(results);
  fill(results);
  fill(state, 'Starting the audit …');
  results.setAttribute('aria-busy', 'true');
  try {
    for await (const event of /** @type {AsyncGenerator<AuditEvent>} */ (events(PATH, { url }, { signal }))) {
      if (event.type === 'progress') fill(state, `${capitalized(event.text)} …`);
      else if (event.type === 'finding') early.add(event.finding);
      else end(event, state, results);
    }
  } catch (error) {
    if (hasLeft(error)) fill(state, stopped(early.count));
    else {
      fill(state);
      fill(results, failure(error));
    }
  }
  early.close();
  results.setAttribute('aria-busy', 'false');
}

/** @param {Ended | Failed} event @param {HTMLElement} state @param {HTMLElement} results */
function end(event, state, results) {
  fill(state);
  if (event.type === 'failed') {
    fill(results, element('div', { class: 'failed', role: 'alert' }, element('p', {}, event.error)));
    return;
  }
  const { report, markdown } = event;
  const name = `audit-${report.target
    .replace(/^\w+:\/\//, '')
    .replace(/[^a-z0-9.]+/gi, '-')
    .slice(0, 60)}`;
  fill(
    results,
    reportHead(
      report,
      download('Download as JSON', `${name}.json`, `${print(report, 2)}\n`),
      download('Download as Markdown', `${name}.md`, markdown, 'text/markdown'),
    ),
    findingGroups(report.findings),
    reportRest(report),
  );
  announce(`The audit has ended: ${report.verdict}. ${report.because}`);
}

/** What was found so far, shown no more often than the screen is drawn. */
class EarlyFindings {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {Finding[]} */
    this.findings = [];
    this.frame = 0;
  }

  get count() {
    return this.findings.length;
  }

  /** @param {Finding} finding */
  add(finding) {
    this.findings.push(finding);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      fill(this.place, findingGroups(this.findings));
    });
  }

  /** What is shown from now on is not replaced by what was found early. */
  close() {
    cancelAnimationFrame(this.frame);
  }
}

/** @param {number} found */
function stopped(found) {
  return found
    ? 'Stopped. What had been found by then is below; there is no report.'
    : 'Stopped before anything was found.';
}

/** @param {string} text */
function capitalized(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
