// SPDX-License-Identifier: Apache-2.0
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** A few clients scrape and probe a port. */
const MAX_CONNECTIONS = 256;

/**
 * Bounds what clients, none of which is authenticated, can hold of a port: connections, time, and responses that they
 * do not read.
 *
 * Beyond {@link MAX_CONNECTIONS}, the oldest connection of the address that has the most is closed, and not the new
 * one: otherwise silent clients would lock the kubelet's probes out, and the container would be restarted.
 *
 * @param milliseconds - how long a connection may make no progress in either direction
 */
export function limitConnections(server: Server, milliseconds: number): void {
  // A client that sends many requests at once would have as many responses wait in memory for it.
  server.maxRequestsPerSocket = 1;
  // `requestTimeout` ends when the request is there: this ends a client that does not read.
  server.timeout = milliseconds;
  const byAddress = new Map<string, Set<Socket>>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const open = byAddress.get(address) ?? new Set();
    byAddress.set(address, open.add(socket));
    count += 1;
    socket.once('close', () => {
      count -= 1;
      open.delete(socket);
      if (open.size === 0) byAddress.delete(address);
    });
    if (count > MAX_CONNECTIONS) closeOldest(byAddress);
  });
}

function closeOldest(byAddress: ReadonlyMap<string, ReadonlySet<Socket>>): void {
  const [most] = [...byAddress.values()].sort((a, b) => b.size - a.size);
  const [oldest] = most ?? [];
  oldest?.destroy();
}
