// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createClient, type Client, type ClientInit } from '#kube/client/client.ts';
import type { Connection, Credentials } from '#kube/client/connection.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { startScriptedServer, type ScriptedServer } from './scripted-server.ts';

/** The moment at which clients of a {@link Wire} live. */
export const NOW = Date.UTC(2026, 10, 21);

/** A scripted server and clients of it. */
export interface Wire {
  readonly server: ScriptedServer;
  /** A connection to it; `more` replaces parts. */
  connection(more?: Partial<Connection>): Connection;
  connect(more?: Partial<ClientInit>): Client;
  stop(): Promise<void>;
}

export async function startWire(): Promise<Wire> {
  const server = await startScriptedServer();
  const opened: Client[] = [];
  const credentials: Credentials = { tls: {} };
  const connection = (more: Partial<Connection> = {}): Connection => ({
    server: server.url,
    credentials: () => Promise.resolve(credentials),
    invalidate: () => undefined,
    ...more,
  });
  return {
    server,
    connection,
    connect: (more = {}) => {
      const client = createClient({
        connection: connection(),
        clock: () => NOW,
        monotonic: more.clock ?? ((): number => NOW),
        userAgent: 'test/1',
        ...more,
      });
      opened.push(client);
      return client;
    },
    stop: async () => {
      await Promise.all(opened.map((client) => client.close()));
      await server.stop();
    },
  };
}

/** What a request is refused with. */
export async function failure(promise: Promise<unknown>): Promise<KubeError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof KubeError, `not a KubeError: ${String(error)}`);
  return error;
}
