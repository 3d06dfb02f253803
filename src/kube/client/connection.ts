// SPDX-License-Identifier: Apache-2.0

/** TLS material of one connection pool; PEM. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Client credentials and trusted CAs, as of one moment. Never logged. */
export interface Credentials {
  readonly tls: TlsMaterial;
  /** The Authorization header's value; absent with a client certificate. */
  readonly authorization?: string;
}

/** How to reach one API server as one identity. Calls may run concurrently. */
export interface Connection {
  /** `https://host:port`, with an optional path prefix, without a slash at its end. */
  readonly server: string;
  /** Cached for a minute; after that, token files, CA files and exec plugins are read again. */
  credentials(): Promise<Credentials>;
  /** The server responded with 401 to these: the next `credentials()` reads everything again. */
  invalidate(rejected: Credentials): void;
}
