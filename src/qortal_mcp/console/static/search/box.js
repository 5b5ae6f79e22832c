// The search box in the header: suggestions while a person types, and what they choose.

import { announce, element, fill } from '../element.js';
import { pageOf } from '../links.js';
import { lookUp } from './looking.js';

const PAUSE_MS = 200;
const MOST_SHOWN = 12;

class SearchBox extends HTMLElement {
  #input = element('input', {
    type: 'search',
    role: 'combobox',
    id: 'search',
    placeholder: 'Address, name, height, signature, date …',
    'aria-label': 'Look up an address, name, block height, signature, group, poll, QDN resource or date',
    'aria-controls': 'suggestions',
    'aria-expanded': 'false',
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: 300,
  });
  #list = element('ul', { role: 'listbox', id: 'suggestions', 'aria-label': 'Suggestions', hidden: true });
  /** @type {import('./finding.js').Found[]} */
  #found = [];
  #chosen = -1;
  #looking = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  connectedCallback() {
    fill(
      this,
      element(
        'form',
        { role: 'search', onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
        this.#input,
      ),
      this.#list,
    );
    this.#input.addEventListener('input', () => this.#later());
    this.#input.addEventListener('keydown', (event) => this.#key(event));
    this.#input.addEventListener('focus', () => this.#found.length && this.#open(true));
    this.addEventListener('focusout', (event) => {
      if (!this.contains(/** @type {Node | null} */ (event.relatedTarget))) this.#open(false);
    });
    // What screen readers call "pressed": without it the box would lose the focus before the click.
    this.#list.addEventListener('pointerdown', (event) => event.preventDefault());
    document.addEventListener('keydown', (event) => {
      const isElsewhere = !(
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog')
      );
      if (event.key === '/' && isElsewhere && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        this.#input.focus();
      }
    });
    addEventListener('hashchange', () => this.#open(false));
  }

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), PAUSE_MS);
  }

  async #look() {
    this.#looking.abort();
    this.#looking = new AbortController();
    const { signal } = this.#looking;
    const text = this.#input.value.trim();
    if (!text) {
      this.#suggest([]);
      return;
    }
    const { found } = await lookUp(text, signal, (some) => this.#suggest(some));
    if (signal.aborted) return;
    this.#suggest(found);
    announce(found.length ? `${found.length} suggestions` : 'Nothing found');
  }

  /** @param {import('./finding.js').Found[]} found */
  #suggest(found) {
    this.#found = found.slice(0, MOST_SHOWN);
    this.#chosen = -1;
    fill(
      this.#list,
      this.#found.map(({ kind, label, detail, href }, at) =>
        element(
          'li',
          { role: 'option', id: `suggestion-${at}`, 'aria-selected': 'false', onclick: () => this.#go(href) },
          element('span', { class: 'kind' }, kind),
          element('span', { class: 'label' }, label),
          element('span', { class: 'detail' }, detail),
        ),
      ),
    );
    this.#mark();
    this.#open(this.#found.length > 0 && document.activeElement === this.#input);
  }

  /** @param {boolean} isOpen */
  #open(isOpen) {
    this.#list.hidden = !isOpen;
    this.#input.setAttribute('aria-expanded', String(isOpen));
  }

  #mark() {
    [...this.#list.children].forEach((row, at) => {
      row.setAttribute('aria-selected', String(at === this.#chosen));
      if (at === this.#chosen) row.scrollIntoView({ block: 'nearest' });
    });
    if (this.#chosen < 0) this.#input.removeAttribute('aria-activedescendant');
    else this.#input.setAttribute('aria-activedescendant', `suggestion-${this.#chosen}`);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const count = this.#found.length;
    if (event.key === 'Escape') {
      event.preventDefault(); // which would empty the box
      this.#looking.abort();
      this.#open(false);
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && count) {
      event.preventDefault();
      this.#open(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      this.#chosen = (this.#chosen + step + count + (this.#chosen < 0 && step < 0 ? 1 : 0)) % count;
      this.#mark();
    }
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    const text = this.#input.value.trim();
    const chosen = this.#found[this.#chosen];
    if (chosen) this.#go(chosen.href);
    else if (text) this.#go(pageOf('search', text));
  }

  /** @param {string} href */
  #go(href) {
    clearTimeout(this.#timer);
    this.#looking.abort();
    this.#suggest([]);
    this.#input.value = '';
    this.#input.blur();
    location.hash = href;
  }
}

customElements.define('search-box', SearchBox);
