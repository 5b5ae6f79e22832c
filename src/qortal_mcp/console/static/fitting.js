// A table that fits: where it is wider than its place, each row stands for itself.

class FittingTable extends HTMLElement {
  #sizes = new ResizeObserver(() => this.#fit());

  connectedCallback() {
    this.#sizes.observe(this);
  }

  disconnectedCallback() {
    this.#sizes.disconnect();
  }

  #fit() {
    this.classList.remove('stacked');
    const table = this.querySelector('table');
    this.classList.toggle('stacked', table !== null && table.scrollWidth > this.clientWidth);
  }
}

customElements.define('fitting-table', FittingTable);

/** @param {HTMLTableElement} table */
export function fitting(table) {
  const place = document.createElement('fitting-table');
  place.append(table);
  return place;
}
