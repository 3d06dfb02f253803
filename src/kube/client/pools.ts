// SPDX-License-Identifier: Apache-2.0
import { Pool } from 'undici';
import type { Connection, Credentials, TlsMaterial } from './connection.ts';

/** The connections to one API server with the credentials that requests are to carry now. */
export interface OpenPools {
  /** For requests: a bounded number of connections, kept alive. */
  readonly calls: Pool;
  /** For watches: each holds a connection for minutes, and none may wait for another. */
  readonly streams: Pool;
  readonly credentials: Credentials;
}

/** What of the credentials is another than it was: the token, or what TLS goes by. */
export type CredentialsChange = 'token' | 'tls';

/** Keeps the pools in step with the credentials. */
export interface Pools {
  /** @throws SignerError KUBE_CONFIG when the credentials cannot be read */
  readonly current: () => Promise<OpenPools>;
  /** Ends every connection at once, those of watches included. */
  readonly close: () => Promise<void>;
}

/** More in flight than an API server's seats for one flow would only queue up there (APF). */
const CONNECTIONS = 64;
/** A half-open connection must not hold a request for ever. */
const HEADERS_TIMEOUT_MS = 30_000;
const BODY_TIMEOUT_MS = 30_000;
/** kube-apiserver closes idle connections after 90 s (IdleTimeout): we leave first. */
const KEEP_ALIVE_MS = 60_000;
/** As client-go: below the idle timeouts of cloud load balancers. */
const TCP_KEEP_ALIVE_MS = 30_000;

export function createPools(
  connection: Connection,
  onCredentials: (change: CredentialsChange) => void = () => undefined,
): Pools {
  const { origin } = new URL(connection.server);
  const opened = new Set<Pool>();
  let open: OpenPools | undefined;

  function openPools(credentials: Credentials): OpenPools {
    const calls = createPool(origin, credentials.tls, CONNECTIONS);
    const streams = createPool(origin, credentials.tls, null);
    opened.add(calls).add(streams);
    return { calls, streams, credentials };
  }

  /** What is in flight there ends by itself; destroy() would kill it. */
  function retire({ calls, streams }: OpenPools): void {
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
        retire(before);
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

function createPool(origin: string, tls: TlsMaterial, connections: number | null): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    // HTTP/2 would put every watch and every write on one connection, one half-open socket away
    // from standing still together; HTTP/1.1 is also the cheaper one here.
    allowH2: false,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { ...tls, keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS },
  });
}
