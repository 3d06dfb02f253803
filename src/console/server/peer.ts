// SPDX-License-Identifier: Apache-2.0
/** The users at the other end of a connection, as Linux lists it in /proc/net (proc(5)). Pure. */
import { endianness } from 'node:os';

/** A TCP connection over IPv4. */
export interface ClientConnection {
  /** Address of the client, such as `127.0.0.1`. */
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/**
 * Returns the user IDs of the sockets at the client's end of a connection on this machine. Sockets
 * of every state count: a client that shut down its own direction still reads the answer.
 *
 * @param tables - texts of /proc/net/tcp and /proc/net/tcp6: a client may use a socket of IPv6
 * @returns an empty list if no table lists the connection
 */
export function clientUsers(
  connection: ClientConnection,
  tables: readonly string[],
): readonly number[] {
  const { remoteAddress, remotePort, localAddress, localPort } = connection;
  const [client, server] = [hexEnd(remoteAddress, remotePort), hexEnd(localAddress, localPort)];
  // Address and port of both ends, four other columns, and the user.
  const rows = new RegExp(`^ *\\d+: ${client} ${server}(?: +\\S+){4} +(\\d+) `, 'gm');
  return Array.from(tables.join('\n').matchAll(rows), ([, user]) => Number(user));
}

/** Returns the pattern of an end, which a socket of IPv6 has as a mapped address. */
function hexEnd(address = '', port = 0): string {
  return `(?:0{16}(?:FFFF0000|0000FFFF))?${hexAddress(address)}:${hex(port, 4)}`;
}

/** Linux prints the four bytes as one integer in the order of the machine. */
function hexAddress(address: string): string {
  const bytes = address.split('.').map((each) => hex(Number(each), 2));
  return (endianness() === 'LE' ? bytes.reverse() : bytes).join('');
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}
