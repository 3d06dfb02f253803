// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { clientUser, type ClientConnection } from '#console/server/peer.ts';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** An administrator reads everything anyway, and proxies of containers run as this user. */
const ROOT = 0;

/**
 * Reports whether another user of this machine made a connection: the arguments of the browser show
 * the address to all users. Where no table lists connections, as on macOS, it reports false.
 */
export function isOfOtherUser(connection: ClientConnection): boolean {
  const user = clientUser(connection, TABLES.map(readTable));
  return user !== undefined && user !== process.getuid?.() && user !== ROOT;
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
