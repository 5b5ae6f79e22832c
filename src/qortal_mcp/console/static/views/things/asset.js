// An asset. Where the tools for assets are switched off, what Core itself says of it.

import { fill } from '../../element.js';
import { corePanel, panel } from '../../panel.js';
import { facts } from '../../readable.js';
import { offers } from '../../wire.js';

/** @type {import('../../main.js').View} */
export const asset = {
  title: ({ parts: [id = ''] }) => `Asset ${id}`,
  async show(place, { parts: [id = ''] }, signal) {
    const part = (await offers('get_asset'))
      ? panel({
          title: 'Asset',
          isMain: true,
          tool: 'get_asset',
          args: { asset: id },
          signal,
          show: (found) => facts(found),
        })
      : corePanel({
          title: 'Asset',
          endpoint: '/assets/info',
          values: /^[0-9]+$/.test(id) ? { assetId: Number(id) } : { assetName: id },
          signal,
          more: 'Holders, orders and trades are there once the server is started with --toolsets +assets.',
        });
    fill(place, part);
  },
};
