// A registered name: whose it is, and what was published under it.

import { element, fill } from '../../element.js';
import { listPanel, panel } from '../../panel.js';
import { facts } from '../../readable.js';

/** @type {import('../../main.js').View} */
export const name = {
  title: ({ parts: [wanted = ''] }) => `Name ${wanted}`,
  show(place, { parts: [wanted = ''] }, signal) {
    const published = element('div', {});
    fill(
      place,
      panel({
        title: 'Name',
        isMain: true,
        tool: 'get_name',
        args: { name: wanted },
        signal,
        show: (found) => {
          fill(published, publishedUnder(found.name, signal));
          return [
            found.isExactMatch
              ? null
              : element(
                  'p',
                  { class: 'warning' },
                  'This is not the name that was asked for, but one that looks like it.',
                ),
            facts(
              found,
              /** @satisfies {(keyof typeof found)[]} */ ([
                'name',
                'owner',
                'registeredTime',
                'updatedTime',
                'isForSale',
                'salePrice',
                'data',
              ]),
            ),
          ];
        },
      }),
      published,
    );
  },
};

/** @param {string} registered @param {AbortSignal} signal */
function publishedUnder(registered, signal) {
  return listPanel({
    title: 'Published on QDN',
    tool: 'search_qdn',
    args: { name: registered },
    noun: 'resources',
    columns: ['time', 'serviceName', 'identifier', 'size', 'publisher', 'signature'],
    none: 'Nothing was published under this name.',
    signal,
  });
}
