// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type ListenOptions, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A forward proxy (RFC 9110 §9.3.6). */
export interface TestProxy {
  /** Empty where it listens on no port. */
  readonly url: string;
  /** The CONNECT requests that came. */
  readonly requests: IncomingMessage[];
  /** Answers the next CONNECT requests so. Default: the proxy connects to the target. */
  readonly always: (answer: (request: IncomingMessage, client: Duplex) => void) => void;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a proxy.
 *
 * @param leadTo - port on 127.0.0.1 to which each tunnel leads, whatever target it names, or the
 *   port of each target; a tunnel to a target without one is refused
 * @param listenOn - default: a port of 127.0.0.1
 */
export async function startProxy(
  leadTo: number | ((target: string) => number | undefined),
  listenOn: ListenOptions = { port: 0, host: '127.0.0.1' },
): Promise<TestProxy> {
  const requests: IncomingMessage[] = [];
  const sockets = new Set<Duplex>();
  let answer: ((request: IncomingMessage, client: Duplex) => void) | undefined;
  const server = createServer((_request, response) => response.writeHead(400).end());
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    requests.push(request);
    client.on('error', () => undefined);
    if (answer !== undefined) {
      answer(request, client);
      return;
    }
    const port = typeof leadTo === 'number' ? leadTo : leadTo(request.url ?? '');
    if (port === undefined) {
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    sockets.add(upstream);
    upstream.on('error', () => client.destroy());
  });
  server.listen(listenOn);
  await once(server, 'listening');
  return {
    url: urlOf(server.address()),
    requests,
    always: (next) => {
      answer = next;
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function urlOf(address: AddressInfo | string | null): string {
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
}
