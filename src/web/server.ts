// SPDX-License-Identifier: Apache-2.0
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import type { Registry } from 'prom-client';

export interface ServerInit {
  /** `host:port`; port 0 takes a free one. */
  readonly listen: string;
  readonly registry: Registry;
  /** Why the component is not ready; empty when it is. */
  readonly notReady: () => readonly string[];
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A reader that says nothing for this long is cut off. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Serves `/healthz`, `/readyz` and `/metrics`. Nothing here can change anything. */
export async function serve(init: ServerInit): Promise<RunningServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, application(init));
  const { host, port } = parseListen(init.listen);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

function application(init: ServerInit): Express {
  const app = express();
  app.disable('x-powered-by');
  app.get('/healthz', (_request, response) => {
    response.type('text').send('ok\n');
  });
  app.get('/readyz', (_request, response) => {
    const reasons = init.notReady();
    response.type('text').status(reasons.length === 0 ? 200 : 503);
    response.send(reasons.length === 0 ? 'ok\n' : `${reasons.join('\n')}\n`);
  });
  app.get('/metrics', async (_request, response) => {
    response.set('content-type', init.registry.contentType);
    response.send(await init.registry.metrics());
  });
  return app;
}

function parseListen(listen: string): { host: string; port: number } {
  const at = listen.lastIndexOf(':');
  const host = listen.slice(0, at).replace(/^\[|\]$/g, '');
  const port = Number(listen.slice(at + 1));
  if (at < 0 || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`--listen ${listen}: must be host:port, such as 127.0.0.1:8080`);
  }
  return { host, port };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
