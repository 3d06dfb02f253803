// SPDX-License-Identifier: Apache-2.0
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import { messageOf } from '../errors.ts';
import { TEXT, type Answer, type Handler } from './answer.ts';
import { healthz, readyz } from './health.ts';
import { listenError, parseListen } from './listen.ts';

export interface ServerInit {
  /** `host:port`; port 0 takes a free one. */
  readonly listen: string;
  readonly registry: Registry;
  /** Why the component is not ready; empty when it is. */
  readonly notReady: () => readonly string[];
  /** What is wrong although it is ready. */
  readonly warnings?: () => readonly string[];
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A reader that says nothing for this long is cut off. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Serves `/healthz`, `/readyz` and `/metrics`. Nothing here can change anything.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export async function serve(init: ServerInit): Promise<RunningServer> {
  const { host, port } = parseListen(init.listen);
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, application(init));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(listenError(init.listen, messageOf(error), error));
    });
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

function application({ registry, notReady, warnings = () => [] }: ServerInit): Express {
  const metrics: Handler = async () => ({
    status: 200,
    contentType: registry.contentType,
    body: await registry.metrics(),
  });
  const app = express();
  app.disable('x-powered-by');
  app.get('/healthz', adapt(healthz));
  app.get('/readyz', adapt(readyz(notReady, warnings)));
  app.get('/metrics', adapt(metrics));
  app.use(adapt(() => ({ status: 404, contentType: TEXT, body: 'not found\n' })));
  app.use(failed);
  return app;
}

/** The only place that knows both a handler and express. */
function adapt(handler: Handler): RequestHandler {
  return async (_request, response) => {
    send(response, await handler());
  };
}

/** express itself would show the stack to whoever asks. */
const failed: ErrorRequestHandler = (_error, _request, response, next) => {
  if (response.headersSent) {
    next(_error);
    return;
  }
  send(response, { status: 500, contentType: TEXT, body: 'internal error\n' });
};

function send(
  response: Parameters<RequestHandler>[1],
  { status, contentType, body }: Answer,
): void {
  response.status(status).set('content-type', contentType);
  // What is here is of this moment.
  response.set('cache-control', 'no-store').send(body);
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
