// The pill in the header: in words, whether what this page shows can be relied on.

import { element, fill } from './element.js';
import { grouped } from './format.js';
import { current, on } from './live.js';

class StatusPill extends HTMLElement {
  #gone = new AbortController();

  connectedCallback() {
    on('state', () => this.#show(), this.#gone.signal);
    this.#show();
  }

  disconnectedCallback() {
    this.#gone.abort();
  }

  #show() {
    const { tone, words, advice, height } = current();
    this.dataset.tone = tone;
    fill(
      this,
      element(
        'a',
        { href: '#/', title: advice },
        element('span', { class: 'dot', 'aria-hidden': 'true' }),
        element('span', { class: 'unseen' }, 'Status: '),
        words,
        height === null ? null : element('span', { class: 'figure' }, ` ${grouped(height)}`),
      ),
    );
  }
}

customElements.define('status-pill', StatusPill);
