// SPDX-License-Identifier: Apache-2.0
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A few clients scrape and probe a port. */
const MAX_CONNECTIONS = 256;

/**
 * Bounds what clients, none of which is authenticated, can hold of a port: connections, time, and responses that they
 * do not read.
 *
 * Beyond `most`, the oldest connection of the address that has the most is closed, and not the new
 * one: otherwise silent clients would lock the kubelet's probes out, and the container would be restarted.
 *
 * @param milliseconds - how long a connection may make no progress in either direction
 * @param most - how many connections are open at once
 */
export function limitConnections(
  server: Server,
  milliseconds: number,
  most = MAX_CONNECTIONS,
): void {
  answerOneAtATime(server);
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
    if (count > most) closeOldest(byAddress);
  });
}

/**
 * A client that sends many requests at once would have as many responses wait in memory for it. One is answered, and
 * the connection ends with it. Clients that wait for each response keep their connection.
 */
function answerOneAtATime(server: Server): void {
  const handlers = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  const answering = new WeakMap<Socket, ServerResponse>();
  const refusing = new WeakSet<Socket>();
  server.on('request', (request, response) => {
    const { socket } = request;
    if (refusing.has(socket)) return;
    const earlier = answering.get(socket);
    if (earlier !== undefined) {
      refusing.add(socket);
      earlier.once('finish', () => {
        socket.destroySoon();
      });
      return;
    }
    answering.set(socket, response);
    response.once('close', () => answering.delete(socket));
    for (const handle of handlers) handle(request, response);
  });
}

function closeOldest(byAddress: ReadonlyMap<string, ReadonlySet<Socket>>): void {
  const [most] = [...byAddress.values()].sort((a, b) => b.size - a.size);
  const [oldest] = most ?? [];
  oldest?.destroy();
}
