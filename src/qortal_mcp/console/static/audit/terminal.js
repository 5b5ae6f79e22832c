// What the page cannot do for an audit, as a command for a terminal.

import { copyButton, element } from '../element.js';
import { current } from '../live.js';
import { quoted } from '../tools/copies.js';

/**
 * Why, and the command to copy.
 * @param {string} why @param {string} url @param {...string} options as they stand in a shell
 */
export function inTerminal(why, url, ...options) {
  const command = [...[...current().program, 'audit', url].map(quoted), ...options].join(' ');
  return element(
    'div',
    { class: 'audit-terminal' },
    element('p', { class: 'help' }, why),
    element('pre', {}, command),
    copyButton(command, 'Copy the command'),
  );
}

/** @param {string} url */
export function withToken(url) {
  return inTerminal(
    'No token is sent from this page to a server under audit. Audit a server that needs one in a terminal; FILE is yours, with the line "Authorization: Bearer TOKEN":',
    url,
    '--header-file FILE',
  );
}
