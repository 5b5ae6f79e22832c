// A trade of QORT for another coin.

import { element, fill } from '../../element.js';
import { shortened } from '../../format.js';
import { pageOf } from '../../links.js';
import { panel } from '../../panel.js';
import { facts } from '../../readable.js';

/** @type {import('../../main.js').View} */
export const trade = {
  title: ({ parts: [address = ''] }) => `Trade ${shortened(address)}`,
  show(place, { parts: [address = ''] }, signal) {
    fill(
      place,
      panel({
        title: 'Trade',
        isMain: true,
        tool: 'get_trade',
        args: { trade_address: address },
        signal,
        show: (found) => facts(found),
      }),
      element(
        'p',
        { class: 'aside' },
        element('a', { href: pageOf('contract', address) }, 'The contract behind it'),
      ),
    );
  },
};
