// An exchange as it went over the wire: the text that came, never read and printed again.

import { copyButton, download, element } from '../element.js';
import { size } from '../format.js';

const MOST_SHOWN = 100_000;
const HEAD_SHOWN = 50_000;

/** @param {import('../wire.js').Exchange} exchange @param {string} curl */
export function rawExchange({ request, status, headers, text, ms }, curl) {
  const sent = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\n`);
  const came = headers.map(([name, value]) => `${name}: ${value}\n`);
  return [
    part('Request', `POST ${request.url}\n${sent.join('')}\n`, request.body, 'request.json'),
    part(`Reply, ${Math.round(ms)} ms`, `HTTP ${status}\n${came.join('')}\n`, text, 'reply.json'),
    element('h3', {}, 'As a command'),
    element('div', { class: 'code' }, element('pre', { tabindex: '0' }, curl), copyButton(curl)),
  ];
}

/** @param {string} title @param {string} head @param {string} body @param {string} file */
function part(title, head, body, file) {
  const isLong = body.length > MOST_SHOWN;
  return [
    element('h3', {}, title),
    element(
      'div',
      { class: 'code' },
      element(
        'pre',
        { tabindex: '0', 'aria-label': title },
        element('span', { class: 'faint' }, head),
        isLong ? `${body.slice(0, HEAD_SHOWN)}…` : body,
      ),
      copyButton(body),
      isLong
        ? [
            download(`Download all ${size(body.length)}`, file, body),
            ` The first ${size(HEAD_SHOWN)} are shown.`,
          ]
        : null,
    ),
  ];
}
