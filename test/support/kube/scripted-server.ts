// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** One request as it came, to be answered at leisure. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The connection that it came on: the same number for the same socket. */
  readonly connection: number;
  readonly socket: Socket;
  /** True once the client has gone. */
  readonly isGone: () => boolean;
  /** Answers with JSON (or with a text as it is), and ends. */
  readonly answer: (status: number, body: unknown, headers?: Record<string, string>) => void;
  /** Answers 200 and sends these as lines of a watch, without an end. */
  readonly lines: (...events: readonly unknown[]) => void;
  /** Bytes of the body as they are, in one write. */
  readonly write: (text: string) => void;
  readonly end: () => void;
  /** Cuts the connection, as a killed server does. */
  readonly cut: () => void;
}

/** An HTTP server on a free loopback port that does what a test tells it, call by call. */
export interface ScriptedServer {
  readonly url: string;
  readonly calls: readonly Call[];
  /** The next call that was not taken yet; waits for it. */
  next(what?: string): Promise<Call>;
  /** Answers all further calls by itself. */
  always(answer: (call: Call) => void): void;
  /** Answers the calls for which `take` is true by itself: no test takes them. */
  aside(take: (call: Call) => boolean): void;
  stop(): Promise<void>;
}

const PATIENCE_MS = 30_000;

export async function startScriptedServer(tls?: ServerOptions): Promise<ScriptedServer> {
  const calls: Call[] = [];
  const sockets = new Map<Socket, number>();
  const waiters: ((call: Call) => void)[] = [];
  let taken = 0;
  let script: ((call: Call) => void) | undefined;
  let takesAside: (call: Call) => boolean = () => false;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const connection = sockets.get(request.socket) ?? sockets.size + 1;
    sockets.set(request.socket, connection);
    const call = makeCall(request, response, {
      body: Buffer.concat(chunks).toString(),
      connection,
    });
    if (takesAside(call)) return;
    calls.push(call);
    waiters[calls.length - 1]?.(call);
    script?.(call);
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // A client that goes away in the middle of its request is no error of ours.
    receive(request, response).catch(() => undefined);
  };
  const server: Server =
    tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    calls,
    next: (what = 'a call') => {
      const index = taken;
      taken += 1;
      const known = calls[index];
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        const late = new Error(`${what} (number ${index + 1}) did not come within 5 s`);
        const timer = setTimeout(reject, PATIENCE_MS, late);
        waiters[index] = (call) => {
          clearTimeout(timer);
          resolve(call);
        };
      });
    },
    always: (answer) => {
      script = answer;
    },
    aside: (take) => {
      takesAside = take;
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function makeCall(
  request: IncomingMessage,
  response: ServerResponse,
  seen: Pick<Call, 'body' | 'connection'>,
): Call {
  const url = new URL(request.url ?? '/', 'http://server');
  return {
    ...seen,
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    socket: request.socket,
    isGone: () => request.socket.destroyed,
    answer: (status, body, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    },
    lines: (...events) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      for (const event of events) response.write(`${JSON.stringify(event)}\n`);
    },
    write: (text) => {
      response.write(text);
    },
    end: () => {
      response.end();
    },
    cut: () => {
      request.socket.destroy();
    },
  };
}
