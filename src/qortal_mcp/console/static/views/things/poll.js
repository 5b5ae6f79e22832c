// A poll and its votes.

import { namedBars } from '../../charts.js';
import { element, fill } from '../../element.js';
import { grouped } from '../../format.js';
import { panel } from '../../panel.js';
import { facts } from '../../readable.js';

/** @type {import('../../main.js').View} */
export const poll = {
  title: ({ parts: [name = ''] }) => `Poll ${name}`,
  show(place, { parts: [name = ''] }, signal) {
    fill(
      place,
      panel({
        title: 'Poll',
        isMain: true,
        tool: 'get_poll',
        args: { name },
        signal,
        follows: true,
        show: (found) => [
          facts(
            found,
            /** @satisfies {(keyof typeof found)[]} */ ([
              'description',
              'owner',
              'publishedTime',
              'totalVotes',
              'totalWeight',
            ]),
          ),
          element(
            'div',
            { class: 'columns' },
            element('div', {}, element('h2', {}, 'By votes'), votes(found.options)),
            element('div', {}, element('h2', {}, 'By weight'), weights(found.options)),
          ),
        ],
      }),
    );
  },
};

/** @typedef {Tools['get_poll']['answer']['options']} Options */

/** @param {Options} options */
function votes(options) {
  return namedBars(
    'Votes',
    options.map(({ name, votes, votesPercent }) => ({
      name,
      count: votes ?? 0,
      words: words(votes, votesPercent),
    })),
  );
}

/** @param {Options} options */
function weights(options) {
  return namedBars(
    'Weight: blocks that the voters minted',
    options.map(({ name, weight, weightPercent }) => ({
      name,
      count: weight ?? 0,
      words: words(weight, weightPercent),
    })),
  );
}

/** @param {number | null} count @param {string | null} percent */
function words(count, percent) {
  return `${count === null ? 'unknown' : grouped(count)}${percent === null ? '' : ` (${percent} %)`}`;
}
