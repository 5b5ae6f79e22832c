// One question on the page: while it is answered, and when the run is there.

import { announce, copyButton, element, fill } from '../element.js';
import { grouped, when } from '../format.js';
import { answerOf } from './answer.js';
import { CallList } from './calls.js';
import { stopped, wasStopped } from './memory.js';

/** @typedef {import('./memory.js').Call} Call */
/** @typedef {import('./memory.js').Run} Run */
/** @typedef {import('./memory.js').Source} Source */
/**
 * @typedef {{type: 'asked', question: string} | {type: 'text', text: string} | {type: 'calling', tool: string, arguments: unknown}
 *   | {type: 'called', call: Call} | {type: 'notice', text: string} | {type: 'ended', run: Run}} AskEvent
 */

const ANNOUNCED_CHARS = 2000;

/** The place of a question, its answer and its calls. */
export class TurnPlace {
  /** @param {string} question */
  constructor(question) {
    this.question = question;
    this.answer = element('div', { class: 'answer' });
    this.about = element('div', { class: 'about' });
    this.aside = element('aside', { 'aria-label': 'Calls', hidden: true });
    this.element = element(
      'section',
      { class: 'panel turn' },
      element('h2', { class: 'asked' }, question),
      element('div', { class: 'told' }, this.answer, this.about),
      this.aside,
    );
    this.calls = new CallList();
    /** @type {Call[]} */
    this.made = [];
    /** @type {string[]} */
    this.notices = [];
    this.said = '';
    this.streamed = element('p', { class: 'streamed' });
  }

  /** The question has been sent. */
  begin() {
    this.element.setAttribute('aria-busy', 'true');
    this.answer.setAttribute('aria-busy', 'true');
    fill(this.answer, element('p', { class: 'waiting' }, 'Asking the model …'));
  }

  /** What happens before the end. @param {AskEvent} event */
  take(event) {
    if (event.type === 'text') this.say(event.text);
    else if (event.type === 'calling') this.showCalls().begin(event.tool, event.arguments);
    else if (event.type === 'called') {
      this.made.push(event.call);
      this.showCalls().add(event.call);
      this.said = ''; // what a model says before a call is not its answer
    } else if (event.type === 'notice') {
      this.notices.push(event.text);
      fill(this.about, notesOf(this.notices));
    }
  }

  /** @param {string} text */
  say(text) {
    if (!this.streamed.isConnected) fill(this.answer, this.streamed);
    this.said += text;
    this.streamed.textContent = this.said;
  }

  showCalls() {
    if (this.aside.hidden) {
      this.aside.hidden = false;
      fill(this.aside, element('h3', {}, 'Calls'), this.calls.element);
    }
    return this.calls;
  }

  /** What is known of a question that did not end by itself. @param {string} problem */
  stop(problem) {
    const { question, said: answer, made: calls, notices } = this;
    return stopped({ question, answer, calls, notices, problem });
  }

  /** Show how it ended. @param {Run} run */
  end(run) {
    this.element.setAttribute('aria-busy', 'false');
    this.answer.setAttribute('aria-busy', 'false');
    this.calls = new CallList();
    this.aside.hidden = true;
    for (const call of run.calls) this.showCalls().add(call);
    fill(
      this.answer,
      run.answer ? answerOf(run.answer, run.grounding, (call, text) => this.calls.follow(call, text)) : null,
      problemOf(run),
    );
    fill(
      this.about,
      notesOf(run.notices),
      wasStopped(run) ? null : [sourcesOf(run), groundingOf(run), spentOf(run)],
    );
  }
}

/** Say once what the answer is. @param {Run} run */
export function announceEnd(run) {
  const { length } = run.grounding.notFromATool;
  const warning = length ? ` ${length === 1 ? 'One value is' : `${length} values are`} not from a tool.` : '';
  if (run.answer) announce(`Answer: ${run.answer.slice(0, ANNOUNCED_CHARS)}${warning}`);
}

/** @param {Run} run */
function problemOf(run) {
  if (!run.problem) return null;
  return element(
    'div',
    { class: wasStopped(run) ? 'missing' : 'failed', role: wasStopped(run) ? null : 'alert' },
    element('p', {}, run.problem),
  );
}

/** @param {string[]} notices */
function notesOf(notices) {
  return notices.length
    ? element(
        'ul',
        { class: 'notes' },
        notices.map((text) => element('li', {}, text)),
      )
    : null;
}

/** @param {Run} run */
function sourcesOf(run) {
  if (!run.answer) return null;
  if (!run.sources.length) {
    const why = run.calls.length
      ? 'no call succeeded.'
      : 'no tool was called, so the answer is from the model’s memory.';
    return element('p', { class: 'warning' }, `Sources: none; ${why}`);
  }
  /** @type {Map<string, string[]>} */
  const byOrigin = new Map();
  for (const source of run.sources) {
    const origin = originOf(source);
    byOrigin.set(origin, [...new Set([...(byOrigin.get(origin) ?? []), source.tool])]);
  }
  return [...byOrigin].map(([origin, tools]) =>
    element('p', { class: 'aside figure' }, 'Sources: ', tools.join(', '), origin ? ` · ${origin}` : ''),
  );
}

/** @param {Source} source */
function originOf({ node, height, asOf, isSynchronizing }) {
  const parts = [
    node,
    height === undefined ? '' : `height ${grouped(height)}`,
    asOf ? when(asOf) : '',
    isSynchronizing ? 'the node was synchronizing' : '',
  ];
  return parts.filter(Boolean).join(' · ');
}

/** @param {Run} run */
function groundingOf({ grounding: { checked, isPartial, notFromATool }, answer }) {
  if (!answer || !checked) return null;
  if (!notFromATool.length)
    return element(
      'p',
      { class: 'aside' },
      `${isPartial ? 'The first' : 'All'} ${grouped(checked)} numbers, names and addresses of the answer are in results of tools.`,
    );
  const told = [
    ...new Set(
      notFromATool.map(({ text, inQuestion }) => (inQuestion ? `${text} (in your question)` : text)),
    ),
  ];
  return element(
    'p',
    { class: 'warning' },
    `Not from a tool: ${told.join(', ')}. Check this before you rely on it.`,
  );
}

/** @param {Run} run */
function spentOf({ spent, calls, model, answer }) {
  if (!spent) return null;
  const tokens = `${spent.isEstimated ? 'about ' : ''}${grouped(spent.promptTokens)} + ${grouped(spent.completionTokens)} tokens`;
  const took = `${(Number(String(spent.ms)) / 1000).toFixed(1)} s`;
  const made = calls.length
    ? `${counted(calls.length, 'call')} in ${counted(spent.rounds, 'round')}`
    : 'no calls';
  return element(
    'footer',
    { class: 'row' },
    element('span', { class: 'figure' }, [model, made, tokens, took].join(' · ')),
    answer ? copyButton(answer, 'Copy the answer') : null,
  );
}

/** @param {number} number @param {string} what */
function counted(number, what) {
  return `${grouped(number)} ${what}${number === 1 ? '' : 's'}`;
}
