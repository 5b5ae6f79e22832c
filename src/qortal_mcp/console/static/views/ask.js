// Ask: a conversation with a model that looks things up with the tools of this server.

import { remember, remembered, sentTurns } from '../ask/memory.js';
import { TurnPlace, announceEnd } from '../ask/turn.js';
import { announce, copyButton, element, fill } from '../element.js';
import { failure } from '../panel.js';
import { Failure, events, getJson, hasLeft } from '../wire.js';

/** @typedef {import('../ask/memory.js').Run} Run */
/** @typedef {import('../ask/turn.js').AskEvent} AskEvent */
/** @typedef {{available: boolean, model: string, endpoint: string, why: string, limits: {questionChars: number}}} Availability */

const EXAMPLES = [
  'How is the chain doing right now?',
  'What does a payment cost?',
  'Which names are for sale, and for how much?',
  'What did 1 LTC cost in the newest trades?',
  'Who minted the newest block?',
];
const NAMED = 'qortal-mcp serve --base-url http://127.0.0.1:11434/v1 --model qwen3:8b';
const WITH_KEY = 'OPENAI_API_KEY=… qortal-mcp serve --base-url https://models.example/v1 --model NAME';
const BROKE_OFF = 'The answer broke off before its end. Ask again.';
const STOPPED = 'Stopped.';

/** @type {import('../main.js').View} */
export const view = {
  title: 'Ask',
  async show(place, route, signal) {
    fill(place, element('p', { class: 'waiting' }, 'Looking for a model …'));
    const found = /** @type {Availability} */ (await getJson('ask', { signal }));
    const conversation = new Conversation(found, signal);
    const form = found.available
      ? conversation.form(route.query.get('q') ?? '')
      : unavailable(found.why, () => view.show(place, route, signal));
    fill(
      place,
      found.available ? introduction(found) : null,
      conversation.turns,
      conversation.examples,
      form,
    );
  },
};

/** @param {Availability} found */
function introduction({ model, endpoint }) {
  return element(
    'p',
    { class: 'help' },
    `${model} answers with the tools of this server, which only read. Your questions, its answers and what the tools return are sent to ${endpoint}.`,
  );
}

/** @param {string} why @param {() => void} again */
function unavailable(why, again) {
  return element(
    'section',
    { class: 'panel' },
    element('h2', {}, 'No language model can be asked'),
    element('p', {}, why),
    element(
      'p',
      {},
      'Whoever runs this server starts it with a model that speaks the protocol of OpenAI, such as one of Ollama:',
    ),
    element('pre', {}, NAMED),
    copyButton(NAMED),
    element('p', {}, 'or one behind a key, which stays on the server:'),
    element('pre', {}, WITH_KEY),
    copyButton(WITH_KEY),
    element('p', {}, element('button', { type: 'button', onclick: again }, 'Look again')),
  );
}

/** The questions of this tab. */
class Conversation {
  /** @param {Availability} found @param {AbortSignal} signal */
  constructor(found, signal) {
    this.found = found;
    this.signal = signal;
    this.runs = remembered();
    this.turns = element('div', { class: 'turns' }, this.runs.map(shownRun));
    this.stopping = new AbortController();
    this.input = element('textarea', {
      id: 'question',
      rows: 2,
      maxlength: found.limits.questionChars,
      placeholder: 'Ask about the chain: accounts, names, trades, blocks …',
      'aria-describedby': 'ask-help',
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event),
    });
    this.send = element('button', { class: 'main' }, 'Ask');
    this.stop = element(
      'button',
      { type: 'button', hidden: true, onclick: () => this.stopping.abort() },
      'Stop',
    );
    this.anew = element(
      'button',
      { type: 'button', class: 'quiet', onclick: () => this.clear() },
      'New conversation',
    );
    this.refused = element('div', { class: 'refused' });
    this.examples = element(
      'section',
      { class: 'panel', hidden: !found.available || this.runs.length > 0 },
      examplesOf((text) => this.ask(text)),
    );
    this.isBusy = false;
    this.anew.hidden = this.runs.length === 0;
  }

  /** @param {string} question */
  form(question) {
    this.input.value = question;
    return element(
      'form',
      { class: 'panel ask-form', onsubmit: (/** @type {SubmitEvent} */ event) => this.submitted(event) },
      this.refused,
      element('label', { for: this.input.id, class: 'unseen' }, 'Your question'),
      this.input,
      element(
        'div',
        { class: 'row' },
        this.send,
        this.stop,
        this.anew,
        element('span', { class: 'help', id: 'ask-help' }, 'Enter asks, Shift+Enter begins a new line.'),
      ),
    );
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.ask(this.input.value);
  }

  /** @param {SubmitEvent} event */
  submitted(event) {
    event.preventDefault();
    this.ask(this.input.value);
  }

  /** @param {string} written */
  async ask(written) {
    const question = written.trim();
    if (!question || this.isBusy) return;
    this.isBusy = true;
    this.input.value = '';
    this.busy(true);
    const turn = new TurnPlace(question);
    this.turns.append(turn.element);
    turn.begin();
    turn.element.scrollIntoView({ block: 'nearest' });
    const run = await this.answered(turn);
    this.isBusy = false;
    this.busy(false);
    if (run) this.keep(turn, run);
    this.examples.hidden = this.runs.length > 0;
    this.anew.hidden = this.runs.length === 0;
  }

  /**
   * The run, whether it ended by itself or not; null if the question was not taken.
   * @param {TurnPlace} turn
   * @returns {Promise<Run | null>}
   */
  async answered(turn) {
    this.stopping = new AbortController();
    const signal = AbortSignal.any([this.signal, this.stopping.signal]);
    const body = { question: turn.question, conversation: sentTurns(this.runs) };
    let isTaken = false;
    try {
      for await (const event of /** @type {AsyncGenerator<AskEvent>} */ (events('ask', body, { signal }))) {
        isTaken = true;
        if (event.type === 'ended') return event.run;
        turn.take(event);
      }
      return turn.stop(turn.notices.at(-1) ?? BROKE_OFF);
    } catch (error) {
      if (hasLeft(error)) return turn.stop(STOPPED);
      if (isTaken) return turn.stop(error instanceof Failure ? error.message : BROKE_OFF);
      this.refuse(turn, error);
      return null;
    }
  }

  /** The question goes back to where it was written. @param {TurnPlace} turn @param {unknown} error */
  refuse(turn, error) {
    turn.element.remove();
    this.input.value ||= turn.question;
    fill(this.refused, failure(error));
  }

  /** @param {TurnPlace} turn @param {Run} run */
  keep(turn, run) {
    turn.end(run);
    this.runs.push(run);
    remember(this.runs);
    if (run.ended === 'endpoint' && !run.answer) this.input.value ||= turn.question;
    if (run.problem) announce(run.problem);
    else announceEnd(run);
  }

  /** @param {boolean} isBusy */
  busy(isBusy) {
    if (isBusy) fill(this.refused);
    const hadFocus = document.activeElement === this.send || document.activeElement === this.stop;
    this.examples.hidden = this.examples.hidden || isBusy;
    this.send.hidden = isBusy;
    this.stop.hidden = !isBusy;
    this.anew.disabled = isBusy;
    if (hadFocus) (isBusy ? this.stop : this.input).focus();
  }

  clear() {
    this.runs = [];
    remember(this.runs);
    fill(this.turns);
    this.examples.hidden = false;
    this.anew.hidden = true;
    this.input.focus();
    announce('A new conversation');
  }
}

/** @param {Run} run */
function shownRun(run) {
  const turn = new TurnPlace(run.question);
  turn.end(run);
  return turn.element;
}

/** @param {(text: string) => void} ask */
function examplesOf(ask) {
  return [
    element('h2', {}, 'For example'),
    element(
      'ul',
      { class: 'examples' },
      EXAMPLES.map((text) =>
        element(
          'li',
          {},
          element('button', { type: 'button', class: 'quiet', onclick: () => ask(text) }, text),
        ),
      ),
    ),
  ];
}
