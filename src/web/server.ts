// SPDX-License-Identifier: Apache-2.0
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../errors.ts';
import { createApplication, type ApplicationInit } from './application.ts';
import { listenError, parseListen } from './listen-address.ts';

export interface ServerInit extends ApplicationInit {
  /** `host:port`; port 0 chooses a free one. */
  readonly listen: string;
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A client that does not complete its request in this time is disconnected. */
export const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Serves `/healthz`, `/readyz` and `/metrics` over HTTP. No endpoint changes anything.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export async function serve(init: ServerInit): Promise<RunningServer> {
  const application = createApplication(init);
  return listening(createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, application), init.listen);
}

/** @throws SignerError USAGE when it cannot listen there */
export async function listening(server: Server, listen: string): Promise<RunningServer> {
  const { host, port } = parseListen(listen);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(listenError(listen, messageOf(error), error));
    });
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
