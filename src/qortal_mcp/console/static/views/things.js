// The pages of things on the chain, by the first part of their address.

import { account } from './things/account.js';
import { asset } from './things/asset.js';
import { block } from './things/block.js';
import { contract } from './things/contract.js';
import { group } from './things/group.js';
import { name } from './things/name.js';
import { poll } from './things/poll.js';
import { resource } from './things/resource.js';
import { trade } from './things/trade.js';
import { transaction } from './things/transaction.js';

/** @type {Record<string, import('../main.js').View>} */
export const things = {
  account,
  asset,
  block,
  contract,
  group,
  name,
  poll,
  qdn: resource,
  trade,
  transaction,
};
