// A transaction with all that its type has.

import { fill } from '../../element.js';
import { shortened } from '../../format.js';
import { panel } from '../../panel.js';
import { facts } from '../../readable.js';

/** @type {import('../../main.js').View} */
export const transaction = {
  title: ({ parts: [signature = ''] }) => `Transaction ${shortened(signature)}`,
  show(place, { parts: [signature = ''] }, signal) {
    fill(
      place,
      panel({
        title: 'Transaction',
        isMain: true,
        tool: 'get_transaction',
        args: { signature },
        signal,
        show: (found) => facts(found),
      }),
    );
  },
};
