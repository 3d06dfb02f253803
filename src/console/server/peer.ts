// SPDX-License-Identifier: Apache-2.0
/** The user at the other end of a connection, as Linux lists it in /proc/net (proc(5)). Pure. */
import { endianness } from 'node:os';

/** A TCP connection over IPv4. */
export interface ClientConnection {
  /** Address of the client, such as `127.0.0.1`. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

/**
 * Returns the user ID of the client of a connection on this machine.
 *
 * @param tables - texts of /proc/net/tcp and /proc/net/tcp6: a client may use a socket of IPv6
 * @returns undefined if no table lists the connection
 */
export function clientUser(
  connection: ClientConnection,
  tables: readonly string[],
): number | undefined {
  const { remoteAddress = '', remotePort = 0, localPort = 0 } = connection;
  // Address and port of both ends, four other columns, and the user.
  const client = `(?:0{16}(?:FFFF0000|0000FFFF))?${hexAddress(remoteAddress)}:${hexPort(remotePort)}`;
  const row = `^ *\\d+: ${client} [0-9A-F]+:${hexPort(localPort)}(?: +\\S+){4} +(\\d+) `;
  const [, user] = new RegExp(row, 'm').exec(tables.join('\n')) ?? [];
  return user === undefined ? undefined : Number(user);
}

/** Linux prints the four bytes as one integer in the order of the machine. */
function hexAddress(address: string): string {
  const bytes = address.split('.').map((each) => hex(Number(each), 2));
  return (endianness() === 'LE' ? bytes.reverse() : bytes).join('');
}

function hexPort(port: number): string {
  return hex(port, 4);
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
