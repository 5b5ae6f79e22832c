// Parts of a page, one shown at a time. Each has an address of its own, so that it can be shared and gone back to.

import { element } from './element.js';

/**
 * @param {string} base the address of the page
 * @param {Record<string, string>} names of the parts, by the end of their address; the first has none
 * @param {string} chosen
 */
export function tabs(base, names, chosen) {
  return element(
    'nav',
    { class: 'tabs', 'aria-label': 'Parts of this page' },
    Object.entries(names).map(([end, words]) =>
      element(
        'a',
        { href: end ? `${base}/${end}` : base, 'aria-current': end === chosen ? 'true' : null },
        words,
      ),
    ),
  );
}
