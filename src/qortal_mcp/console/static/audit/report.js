// A report of an audit: the verdict, the findings by severity, and what could not be checked. All of it may quote the server.

import { copyButton, element } from '../element.js';
import { grouped } from '../format.js';

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
 * @property {{what: string, reason: string}[]} gaps
 * @property {number} tools
 * @property {number} toolsCalled
 * @property {number} toolsSucceeded
 * @property {number} toolsTokens
 * @property {number} seconds
 * @property {number} requests
 */
/** @typedef {import('../element.js').Child} Child */

/** From worst to least. @type {Record<string, {heading: string, tone: string}>} */
const SEVERITIES = {
  MUST: { heading: 'What the specification demands', tone: 'bad' },
  SHOULD: { heading: 'What the specification recommends', tone: 'warn' },
  portability: { heading: 'Legal, but it breaks a client', tone: 'warn' },
  advice: { heading: 'Worth knowing', tone: '' },
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
  return element(
    'section',
    { class: 'panel', 'aria-label': 'Verdict' },
    element(
      'p',
      { class: 'verdict', 'data-tone': tone },
      element('strong', {}, words),
      `: ${report.because}.`,
    ),
    element(
      'dl',
      { class: 'facts' },
      fact('Server', report.server || 'unknown'),
      fact('Address', report.target),
      fact('Revisions', report.revisions.join(', ') || 'none'),
      fact('Findings', counts(report.findings)),
      fact(
        'Tools',
        `${grouped(report.tools)}, ${grouped(report.toolsCalled)} called, ${grouped(report.toolsSucceeded)} succeeded; about ${grouped(report.toolsTokens)} tokens`,
      ),
      fact(
        'Effort',
        `${grouped(report.judged.length)} checks, ${grouped(report.requests)} requests in ${report.seconds.toFixed(1)} s`,
      ),
    ),
    element('p', { class: 'row audit-downloads' }, downloads),
  );
}

/** @param {string} name @param {string} value */
function fact(name, value) {
  return element('div', {}, element('dt', {}, name), element('dd', {}, value));
}

/** @param {Finding[]} findings */
function counts(findings) {
  const parts = Object.keys(SEVERITIES).map((severity) => {
    const mine = findings.filter((one) => one.severity === severity);
    const kinds = new Set(mine.map((one) => one.code)).size;
    return mine.length && `${kinds} ${severity}${mine.length > kinds ? ` in ${mine.length} places` : ''}`;
  });
  return parts.filter(Boolean).join(', ') || 'none';
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
    { class: 'audit-finding' },
    element('h3', {}, first.title, ' ', element('code', { class: 'faint' }, first.code)),
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
export function reportRest({ gaps, notJudged }) {
  /** @type {Map<string, string[]>} */
  const reasons = new Map();
  for (const { code, reason } of notJudged) reasons.set(reason, [...(reasons.get(reason) ?? []), code]);
  return [
    gaps.length
      ? element(
          'section',
          { class: 'panel' },
          element('h2', {}, 'Not checked'),
          element(
            'ul',
            { class: 'audit-list' },
            gaps.map(({ what, reason }) => element('li', {}, `${what}: ${reason}`)),
          ),
        )
      : null,
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
