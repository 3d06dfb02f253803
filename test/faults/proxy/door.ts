// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server } from 'node:https';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Script } from './script.ts';

/** PEM of a serving certificate, which is its own CA, and of its key. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** Where one client comes in. */
export interface Door {
  readonly client: string;
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  /** Ends all connections. */
  cut(): void;
  serveAs(identity: Identity): void;
  close(): Promise<void>;
}

interface DoorInit {
  readonly client: string;
  readonly identity: Identity;
  readonly script: Script;
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

export async function openDoor(init: DoorInit): Promise<Door> {
  const { client, script } = init;
  const sockets = new Set<Socket>();
  let http = speaker(init, init.identity);

  async function admit(socket: Socket): Promise<void> {
    for (const fault of script.strike({ client, verbs: ['CONNECT'], path: '/' })) {
      if (fault.kind === 'delay') await sleep(script.between(fault.least, fault.most));
      // Accepted by the kernel, and that is all that ever happens.
      if (fault.kind === 'silence') return;
      if (fault.kind === 'cut') {
        socket.destroy();
        return;
      }
    }
    http.emit('connection', socket);
  }

  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    void admit(socket);
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  return {
    client,
    url: `https://127.0.0.1:${port}`,
    cut,
    serveAs: (identity) => {
      // A new one: the old one's session tickets would let clients in without a look at the new
      // one's certificate, which no restarted server does.
      http = speaker(init, identity);
      cut();
    },
    close: async () => {
      const closed = once(tcp, 'close');
      tcp.close();
      cut();
      await closed;
    },
  };
}

/** TLS and HTTP for the connections that it is handed; it listens to none itself. */
function speaker({ serve }: DoorInit, identity: Identity): Server {
  const http = createTlsServer({ ...identity, noDelay: true }, (request, response) => {
    // A client that goes away in the middle of anything is no error of ours.
    serve(request, response).catch(() => response.destroy());
  });
  // An idle connection that we end first races with its next request: a fault that nobody asked
  // for.
  http.keepAliveTimeout = 0;
  http.requestTimeout = 0;
  http.headersTimeout = 0;
  http.on('tlsClientError', () => undefined);
  return http;
}
