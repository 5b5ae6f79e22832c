// A contract on the chain (an AT). Where the tools for contracts are switched off, what Core itself says of it.

import { element, fill } from '../../element.js';
import { shortened } from '../../format.js';
import { pageOf } from '../../links.js';
import { corePanel, listPanel, panel } from '../../panel.js';
import { facts } from '../../readable.js';
import { offers } from '../../wire.js';

/** @type {import('../../main.js').View} */
export const contract = {
  title: ({ parts: [address = ''] }) => `Contract ${shortened(address)}`,
  async show(place, { parts: [address = ''] }, signal) {
    const part = (await offers('get_contract'))
      ? panel({
          title: 'Contract',
          isMain: true,
          tool: 'get_contract',
          args: { address },
          signal,
          show: (found) => facts(found),
        })
      : corePanel({
          title: 'Contract',
          endpoint: '/at/{ataddress}',
          values: { ataddress: address },
          signal,
          more: 'The server says more once it is started with --toolsets +contracts.',
        });
    fill(
      place,
      element(
        'p',
        {},
        element('a', { href: pageOf('trade', address) }, 'The trade that this contract may be'),
      ),
      part,
      listPanel({
        title: 'Transactions',
        tool: 'search_transactions',
        args: { address },
        noun: 'transactions',
        columns: ['time', 'type', 'amount', 'creatorAddress', 'recipient', 'signature'],
        signal,
      }),
    );
  },
};
