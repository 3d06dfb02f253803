// SPDX-License-Identifier: Apache-2.0
import { createSecureContext } from 'node:tls';
import { Pool, buildConnector } from 'undici';
import type { Connection, Credentials, TlsMaterial } from './connection.ts';

/** The connections to one API server, and the credentials that requests carry. */
export interface OpenPools {
  /** Connections for requests: a bounded number, kept alive. */
  readonly calls: Pool;
  /** Connections for watches. Each holds one for minutes, so their number is unbounded. */
  readonly streams: Pool;
  readonly credentials: Credentials;
}

/** The changed part of the credentials: the token, or the TLS files. */
export type CredentialsChange = 'token' | 'tls';

/** Opens new pools when the TLS files change. */
export interface Pools {
  /** @throws SignerError KUBE_CONFIG when the credentials cannot be read */
  readonly current: () => Promise<OpenPools>;
  /** Ends every connection at once, including those of watches. */
  readonly close: () => Promise<void>;
}

/**
 * HTTP/2 would put every watch and every write on one connection, and one half-open socket would
 * stop them all. HTTP/1.1 also costs less CPU here.
 */
const ALLOW_H2 = false;
/** More requests in flight would queue at the API server: one flow has only so many seats (APF). */
const CONNECTIONS = 64;
/** A half-open connection must not hold a request indefinitely. */
const HEADERS_TIMEOUT_MS = 30_000;
const BODY_TIMEOUT_MS = 30_000;
/**
 * kube-apiserver closes idle connections after 90 s (IdleTimeout). This is less, so that the client
 * closes them first.
 */
const KEEP_ALIVE_MS = 60_000;
/** The value of client-go: below the idle timeouts of cloud load balancers. */
const TCP_KEEP_ALIVE_MS = 30_000;

/** @param onCredentials - called when changed credentials come into use */
export function createPools(
  connection: Connection,
  onCredentials: (change: CredentialsChange) => void = () => undefined,
): Pools {
  const { origin } = new URL(connection.server);
  const opened = new Set<Pool>();
  let open: OpenPools | undefined;

  function openPools(credentials: Credentials): OpenPools {
    const connect = createConnector(credentials.tls);
    const calls = createPool(origin, connect, CONNECTIONS);
    const streams = createPool(origin, connect, null);
    opened.add(calls).add(streams);
    return { calls, streams, credentials };
  }

  /** Lets the requests in flight finish, unlike destroy(). */
  function drain({ calls, streams }: OpenPools): void {
    for (const pool of [calls, streams]) {
      const gone = (): boolean => opened.delete(pool);
      pool.close().then(gone, gone);
    }
  }

  return {
    current: async () => {
      const credentials = await connection.credentials();
      if (open?.credentials === credentials) return open;
      const before = open;
      const same = before !== undefined && isSame(before.credentials.tls, credentials.tls);
      open = same ? { ...before, credentials } : openPools(credentials);
      if (before === undefined) return open;
      if (!same) {
        drain(before);
        onCredentials('tls');
      }
      if (before.credentials.authorization !== credentials.authorization) onCredentials('token');
      return open;
    },
    close: async () => {
      await Promise.all([...opened].map((pool) => pool.destroy()));
    },
  };
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Creates the function that opens connections. They share one TLS context: with one for each, every
 * connection would parse the CAs and the key, and keep them in memory.
 */
function createConnector(tls: TlsMaterial): buildConnector.connector {
  let connector: buildConnector.connector | undefined;
  return (options, callback) => {
    try {
      connector ??= buildConnector({
        ...tls,
        secureContext: createSecureContext(tls),
        allowH2: ALLOW_H2,
        keepAlive: true,
        keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      });
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    connector(options, callback);
  };
}

function createPool(
  origin: string,
  connect: buildConnector.connector,
  connections: number | null,
): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    allowH2: ALLOW_H2,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect,
  });
}
