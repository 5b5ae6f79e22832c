// Something that was published on QDN: what it says about itself. Its content is not read.

import { fill } from '../../element.js';
import { panel } from '../../panel.js';
import { facts } from '../../readable.js';

/** @type {import('../../main.js').View} */
export const resource = {
  title: ({ parts }) => `Published: ${parts.join('/')}`,
  show(place, { parts: [service = '', name = '', ...rest] }, signal) {
    const identifier = rest.join('/');
    fill(
      place,
      panel({
        title: 'Published on QDN',
        isMain: true,
        tool: 'get_qdn_resource',
        args: { service, name, ...(identifier ? { identifier } : {}) },
        signal,
        show: (found) =>
          facts(
            found,
            /** @satisfies {(keyof typeof found)[]} */ ([
              'title',
              'description',
              'category',
              'tags',
              'name',
              'serviceName',
              'identifier',
              'size',
              'status',
              'statusDescription',
              'time',
              'updatedTime',
              'latestSignature',
            ]),
          ),
      }),
    );
  },
};
