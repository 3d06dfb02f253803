// SPDX-License-Identifier: Apache-2.0
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The default limit of connections. A few clients scrape and probe a port. */
const MAX_CONNECTIONS = 256;

/**
 * Bounds the resources that unauthenticated clients can hold of a port: connections, time, and
 * unread responses.
 *
 * Beyond `most`, closes the oldest connection of the address that has the most, and not the new
 * one. Otherwise silent clients would lock the kubelet's probes out, and the container would
 * restart.
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
  // `requestTimeout` ends when the request has arrived. This timeout ends a client that does not
  // read.
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
 * Answers one request of a connection at a time. A client that sends many requests at once would
 * otherwise have as many responses in memory. It gets one response, and the connection ends.
 * Clients that wait for each response keep their connection.
 */
function answerOneAtATime(server: Server): void {
  // The event's name determines the type of its listeners.
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
