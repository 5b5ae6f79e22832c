// A group: who is in it, and who wants to be or may not.

import { element, fill, retitle } from '../../element.js';
import { pageOf } from '../../links.js';
import { listPanel, panel } from '../../panel.js';
import { facts } from '../../readable.js';
import { tabs } from '../../tabs.js';

const NAMES = {
  '': 'Members',
  invites: 'Invites',
  join_requests: 'Join requests',
  bans: 'Bans',
  kicks: 'Kicks',
};

/** @type {import('../../main.js').View} */
export const group = {
  title: ({ parts: [id = ''] }) => `Group ${id}`,
  show(place, { parts: [id = '', chosen = ''] }, signal) {
    const kind = /** @type {keyof typeof NAMES} */ (Object.hasOwn(NAMES, chosen) ? chosen : '');
    const group_id = Number(id);
    const rest = element('div', {});
    fill(
      place,
      panel({
        title: 'Group',
        isMain: true,
        tool: 'get_group',
        args: { group_id },
        signal,
        onFound: ({ groupName }) => {
          retitle(place, `${groupName} (group ${id})`);
          fill(
            rest,
            tabs(pageOf('group', id), NAMES, kind),
            kind ? events(group_id, kind, signal) : members(group_id, signal),
          );
        },
        show: (found) =>
          facts(
            found,
            /** @satisfies {(keyof typeof found)[]} */ ([
              'groupName',
              'description',
              'owner',
              'ownerPrimaryName',
              'isOpen',
              'memberCount',
              'adminCount',
              'approvalThreshold',
              'minimumBlockDelay',
              'maximumBlockDelay',
              'createdTime',
              'updatedTime',
            ]),
          ),
      }),
      rest,
    );
  },
};

/** @param {number} group_id @param {AbortSignal} signal */
function members(group_id, signal) {
  return listPanel({
    title: 'Members',
    tool: 'list_group_members',
    args: { group_id },
    noun: 'members',
    columns: ['member', 'primaryName', 'isAdmin', 'joinedTime'],
    signal,
  });
}

/** @param {number} group_id @param {Exclude<keyof typeof NAMES, ''>} kind @param {AbortSignal} signal */
function events(group_id, kind, signal) {
  return listPanel({
    title: NAMES[kind],
    tool: 'list_group_events',
    args: { group_id, kind },
    noun: 'events',
    columns: ['address', 'by', 'time', 'reason', 'expiryTime'],
    signal,
  });
}
