// SPDX-License-Identifier: Apache-2.0
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { messageOf } from '#base/errors.ts';
import type { Log } from '#base/ports.ts';
import { createApplication, type ApplicationInit } from './application.ts';
import { limitConnections } from './connection-limits.ts';
import { listenError, parseListen } from './listen-address.ts';
import { bind } from './bind.ts';

export interface ServerInit extends ApplicationInit {
  /** `host:port`. Port 0 selects a free one. */
  readonly listen: string;
  /** The flag with the address, for the error. Default: `--listen`. */
  readonly flag?: string;
  /** Default `REQUEST_TIMEOUT_MS`. */
  readonly requestTimeoutMs?: number;
  /** Receives a line if the kernel has no IPv6. */
  readonly log?: Log;
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

/** The time in which a client must complete its request. It is disconnected within a tenth more. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Returns the options of a port's `http.Server`. Node looks for late clients every 30 s by default,
 * so that a timeout of 10 s would end a silent connection after 30 s.
 *
 * @param milliseconds - how long a client may take to send its request
 */
export function timeoutsOf(milliseconds = REQUEST_TIMEOUT_MS): ServerOptions {
  return {
    requestTimeout: milliseconds,
    headersTimeout: milliseconds,
    connectionsCheckingInterval: milliseconds / 10,
  };
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics` over HTTP. No endpoint changes anything.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export async function serve(init: ServerInit): Promise<RunningServer> {
  const application = createApplication(init);
  return listening(createServer(timeoutsOf(init.requestTimeoutMs), application), init);
}

/**
 * Opens a server's port, with the limits on its connections.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export async function listening(
  server: Server,
  {
    listen,
    flag,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    maxConnections,
    log,
  }: Pick<ServerInit, 'listen' | 'flag' | 'requestTimeoutMs' | 'log'> & {
    readonly maxConnections?: number;
  },
): Promise<RunningServer> {
  const at = parseListen(listen, flag);
  limitConnections(server, requestTimeoutMs, maxConnections);
  try {
    await bind(server, at, log);
  } catch (error) {
    throw listenError(listen, messageOf(error), { flag, cause: error });
  }
  const address = server.address();
  // A server on a port has an object, not the path of a socket.
  if (typeof address !== 'object' || address === null) throw new Error(`${listen} is not a port`);
  return { port: address.port, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}

/** An answer of a port for public clients. */
export interface ShortAnswer {
  readonly status: number;
  readonly body: string;
  /** Additional header fields. Plain text unless they contain a content type. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends a whole, uncached answer. If the request has a body, it stays unread and the connection
 * ends.
 */
export function sendShort(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: ShortAnswer,
): void {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  const hasBody = coding !== undefined || (length !== undefined && length !== '0');
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
    ...(hasBody ? { connection: 'close' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  if (hasBody) response.once('finish', () => request.destroy());
}
