// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { clientUsers, type ClientConnection } from '#console/server/peer.ts';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** An administrator reads everything anyway, and proxies of containers run as this user. */
const ROOT = 0;

/**
 * Reports whether another user of this machine made a connection: the arguments of the browser show
 * the address to all users. It reports false where no table lists the connection, as on macOS, or
 * for a browser of Windows and a console in WSL.
 */
export function isOfOtherUser(connection: ClientConnection): boolean {
  const allowed = [process.getuid?.(), ROOT];
  return clientUsers(connection, TABLES.map(readTable)).some((user) => !allowed.includes(user));
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
