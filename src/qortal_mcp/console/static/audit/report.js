// A report of an audit: the verdict, the findings by severity, and what could not be checked. All of it may quote the server.

import { copyButton, element } from '../element.js';
import { grouped } from '../format.js';
import { inTerminal, withToken } from './terminal.js';

/** @typedef {{client: string, version: string, outcome: string, seen: string}} Impact */
/**
 * @typedef {object} Finding
 * @property {string} code
 * @property {string} severity
 * @property {string} title
 * @property {string} place
 * @property {string[]} revisions
 * @property {string} evidence
 * @property {string} expected
 * @property {string} clause
 * @property {Impact[]} clients
 * @property {string} fix
 * @property {string} reproduce
 * @property {string} reproduceNote
 * @property {string} note
 * @property {string} source
 */
/**
 * @typedef {object} Report
 * @property {string} verdict
 * @property {string} because
 * @property {string} target
 * @property {string} transport
 * @property {string} server
 * @property {string[]} revisions
 * @property {Finding[]} findings
 * @property {string[]} judged
 * @property {{code: string, reason: string}[]} notJudged
 * @property {{what: string, reason: string, weighs?: boolean}[]} gaps
 * @property {{tool: string, failed: string}[]} modelSees
 * @property {number} tools
 * @property {number} toolsCalled
 * @property {number} toolsSucceeded
 * @property {number} toolsTokens
 * @property {number} seconds
 * @property {number} requests
 */
/** @typedef {import('../element.js').Child} Child */

/** From worst to least; `one` and `many` follow a number. @type {Record<string, {heading: string, tone: string, one: string, many: string}>} */
const SEVERITIES = {
  MUST: {
    heading: 'What the specification demands',
    tone: 'bad',
    one: 'demand of the specification is not met',
    many: 'demands of the specification are not met',
  },
  SHOULD: {
    heading: 'What the specification recommends',
    tone: 'warn',
    one: 'recommendation is not followed',
    many: 'recommendations are not followed',
  },
  portability: {
    heading: 'Legal, but it breaks a client',
    tone: 'warn',
    one: 'legal thing breaks a client',
    many: 'legal things break a client',
  },
  advice: {
    heading: 'Worth knowing',
    tone: '',
    one: 'thing is worth knowing',
    many: 'things are worth knowing',
  },
};
/** @type {Record<string, {words: string, tone: string}>} */
const VERDICTS = {
  conforms: { words: 'It conforms', tone: 'good' },
  violates: { words: 'It violates the specification', tone: 'bad' },
  incomplete: { words: 'The audit is incomplete', tone: 'warn' },
};
/** What clients do, the worst first, in words that can follow their names. @type {Record<string, string>} */
const OUTCOMES = {
  'server unusable': "none of the server's tools are offered",
  'tool missing': 'the tool is not offered',
  hangs: 'the call hangs until it times out',
  'call fails': 'the call fails',
  garbage: 'the model gets nothing, or something wrong',
};
const SHOWN_PLACES = 3;

/**
 * The verdict, what the server is, and ways to keep the report.
 * @param {Report} report @param {...Child} downloads
 */
export function reportHead(report, ...downloads) {
  const { words, tone } = VERDICTS[report.verdict] ?? { words: report.verdict, tone: '' };
  const broken = report.findings.filter((one) => one.severity === 'MUST');
  return element(
    'section',
    { class: 'panel', 'aria-label': 'Verdict' },
    element(
      'p',
      { class: 'verdict', 'data-tone': tone },
      element('strong', {}, words),
      `: ${broken.length ? brokenRules(broken) : report.because}.`,
    ),
    broken.length
      ? element(
          'p',
          { class: 'row' },
          [...byCode(broken).keys()].map((code) =>
            element('button', { type: 'button', class: 'quiet', onclick: () => goTo('MUST', code) }, code),
          ),
        )
      : null,
    nextStep(report),
    report.revisions.length
      ? element(
          'dl',
          { class: 'facts' },
          fact('Server', report.server || 'unknown'),
          fact('Address', report.target),
          fact('Revisions', report.revisions.join(', ')),
          fact('Findings', counts(report.findings)),
          fact('Tools', toolsInWords(report)),
          fact(
            'Effort',
            `${grouped(report.judged.length)} checks, ${grouped(report.requests)} requests in ${report.seconds.toFixed(1)} s`,
          ),
        )
      : null,
    element('p', { class: 'row audit-downloads' }, downloads),
  );
}

/** @param {Finding[]} broken */
function brokenRules(broken) {
  const rules = byCode(broken).size;
  return `${rules === 1 ? '1 rule is' : `${grouped(rules)} rules are`} broken in ${places(broken.length)}`;
}

/** @param {number} count */
function places(count) {
  return count === 1 ? '1 place' : `${grouped(count)} places`;
}

/** @param {string} severity @param {string} code */
function idOf(severity, code) {
  return `finding-${severity}-${code}`;
}

/** Show a kind of finding to whoever looks or listens. @param {string} severity @param {string} code */
function goTo(severity, code) {
  const found = document.getElementById(idOf(severity, code));
  found?.scrollIntoView();
  found?.querySelector('h3')?.focus();
}

/** What a person can do where hardly anything could be audited. @param {Report} report */
function nextStep({ revisions, gaps, target }) {
  if (gaps.some(({ reason }) => reason.includes('HTTP 401'))) return withToken(target);
  const meant = URL.canParse(target) ? new URL('/mcp', target).href : target;
  if (revisions.length || !/^https?:/.test(target) || meant === target) return null;
  return element(
    'p',
    {},
    'Did you mean ',
    element('a', { href: `#/audit?url=${encodeURIComponent(meant)}` }, meant),
    '?',
  );
}

/** @param {Report} report */
function toolsInWords({ tools, toolsTokens, toolsCalled, toolsSucceeded, modelSees }) {
  if (!tools) return 'none';
  const failed = toolsCalled - toolsSucceeded;
  const where = modelSees.some((one) => one.failed) ? ', listed at the end' : '';
  return [
    `${grouped(tools)}, whose list takes a model about ${grouped(toolsTokens)} tokens. `,
    toolsCalled ? `${grouped(toolsCalled)} called: ${grouped(toolsSucceeded)} succeeded` : 'None called',
    failed ? `, ${grouped(failed)} answered with an error (no violation by itself${where})` : '',
    '.',
  ].join('');
}

/** @param {string} name @param {string} value */
function fact(name, value) {
  return element('div', {}, element('dt', {}, name), element('dd', {}, value));
}

/** @param {Finding[]} findings */
function counts(findings) {
  const parts = Object.entries(SEVERITIES).map(([severity, { one, many }]) => {
    const mine = findings.filter((finding) => finding.severity === severity);
    const kinds = byCode(mine).size;
    const where = mine.length > kinds ? `, in ${places(mine.length)}` : '';
    return mine.length && `${grouped(kinds)} ${kinds === 1 ? one : many}${where}`;
  });
  return parts.filter(Boolean).join('; ') || 'none';
}

/**
 * All findings, the most severe first, each kind once with its places.
 * @param {Finding[]} findings
 */
export function findingGroups(findings) {
  return Object.entries(SEVERITIES).map(([severity, { heading, tone }]) => {
    const mine = findings.filter((one) => one.severity === severity);
    if (!mine.length) return null;
    return element(
      'section',
      { class: 'panel audit-severity', 'data-tone': tone },
      element('h2', {}, element('span', { class: 'audit-word' }, severity), ` ${heading}`),
      [...byCode(mine).values()].map(shownKind),
    );
  });
}

/** @param {Finding[]} findings */
function byCode(findings) {
  /** @type {Map<string, Finding[]>} */
  const groups = new Map();
  for (const one of findings) groups.set(one.code, [...(groups.get(one.code) ?? []), one]);
  return groups;
}

/** @param {Finding[]} group the places where one thing is wrong */
function shownKind(group) {
  const [first] = group;
  if (!first) return null;
  return element(
    'article',
    { class: 'audit-finding', id: idOf(first.severity, first.code) },
    element('h3', { tabindex: -1 }, first.title, ' ', element('code', { class: 'faint' }, first.code)),
    element(
      'dl',
      { class: 'audit-facts' },
      described('Where', shownPlaces(group)),
      first.evidence && described('Seen', element('code', {}, first.evidence)),
      described('Expected', [
        first.expected,
        first.clause && element('span', { class: 'faint' }, ` (${first.clause})`),
      ]),
      described('Breaks', shownBreakage(group)),
      first.source && described('Source', first.source),
      described('Fix', first.fix),
      first.reproduce && described('Try it', shownCommand(first)),
    ),
  );
}

/** @param {string} name @param {Child} value */
function described(name, value) {
  return element('div', {}, element('dt', {}, name), element('dd', {}, value));
}

/** @param {Finding} finding */
function shownCommand({ reproduce, reproduceNote }) {
  return element(
    'details',
    {},
    element('summary', {}, 'A command that shows it'),
    element('pre', {}, reproduce),
    reproduceNote ? element('p', { class: 'help' }, reproduceNote) : null,
    copyButton(reproduce, 'Copy the command'),
  );
}

/** @param {Finding[]} group */
function shownPlaces(group) {
  const items = group.map((one) =>
    element(
      'li',
      {},
      element('code', {}, one.place),
      one.revisions.length ? element('span', { class: 'faint' }, ` in ${one.revisions.join(', ')}`) : null,
      one.note ? element('div', {}, one.note) : null,
    ),
  );
  const more = items.slice(SHOWN_PLACES);
  return [
    element('ul', { class: 'audit-list' }, items.slice(0, SHOWN_PLACES)),
    more.length
      ? element(
          'details',
          {},
          element('summary', {}, `${grouped(more.length)} more places`),
          element('ul', { class: 'audit-list' }, more),
        )
      : null,
  ];
}

/** Which clients break, and how; by place, if that is not the same everywhere. @param {Finding[]} group */
function shownBreakage(group) {
  /** @type {Map<string, {place: string, clients: Impact[]}>} */
  const alike = new Map();
  for (const { place, clients } of group) {
    const key = clients.map((one) => `${one.client}\n${one.outcome}`).join('\n');
    if (!alike.has(key)) alike.set(key, { place, clients });
  }
  const parts = [...alike.values()];
  return parts.map(({ place, clients }) => [
    parts.length > 1 ? element('p', { class: 'faint' }, `As at ${place}:`) : null,
    clients.length
      ? element('ul', { class: 'audit-list' }, byOutcome(clients))
      : 'no client that was measured',
  ]);
}

/** @param {Impact[]} clients */
function byOutcome(clients) {
  return Object.entries(OUTCOMES).map(([outcome, words]) => {
    const mine = clients.filter((one) => one.outcome === outcome);
    return mine.length ? element('li', {}, mine.map((one) => one.client).join(', '), `: ${words}`) : null;
  });
}

/**
 * What was not checked, and why.
 * @param {Report} report
 */
export function reportRest({ verdict, target, gaps, notJudged, modelSees }) {
  // What makes an audit incomplete is its headline.
  const shown = verdict === 'incomplete' ? gaps.filter(({ weighs }) => !weighs) : gaps;
  /** @type {Map<string, string[]>} */
  const reasons = new Map();
  for (const { code, reason } of notJudged) reasons.set(reason, [...(reasons.get(reason) ?? []), code]);
  return [
    shown.length
      ? element(
          'section',
          { class: 'panel' },
          element('h2', {}, 'Not checked'),
          element(
            'ul',
            { class: 'audit-list' },
            shown.map(({ what, reason }) => element('li', {}, `${what}: ${reason}`)),
          ),
          gaps.some(({ reason }) => reason.includes('--call-all'))
            ? inTerminal(
                'In a terminal, tools that declare themselves read-only are also called with arguments, the smallest that fit:',
                target,
                '--call-all',
              )
            : null,
        )
      : null,
    failedCalls(modelSees),
    reasons.size
      ? element(
          'details',
          { class: 'panel' },
          element(
            'summary',
            {},
            `${grouped(notJudged.length)} checks had nothing to look at, or do not apply`,
          ),
          element(
            'ul',
            { class: 'audit-list' },
            [...reasons].map(([reason, codes]) =>
              element('li', {}, `${reason}: `, element('span', { class: 'faint' }, codes.join(', '))),
            ),
          ),
        )
      : null,
  ];
}

/** What tools said instead of an answer. @param {Report['modelSees']} seen */
function failedCalls(seen) {
  const said = new Map(seen.filter((one) => one.failed).map((one) => [one.tool, one.failed]));
  if (!said.size) return null;
  return element(
    'details',
    { class: 'panel' },
    element(
      'summary',
      {},
      `Errors that ${said.size === 1 ? '1 tool' : `${grouped(said.size)} tools`} answered with`,
    ),
    element('p', { class: 'help' }, 'Often because a tool was called without arguments.'),
    element(
      'ul',
      { class: 'audit-list' },
      [...said].map(([tool, words]) => element('li', {}, element('code', {}, tool), `: ${words}`)),
    ),
  );
}
