// SPDX-License-Identifier: Apache-2.0

/** TLS material of one connection pool, as PEM. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Client credentials and trusted CAs at one moment. Never logged. */
export interface Credentials {
  readonly tls: TlsMaterial;
  /** The Authorization header's value. Absent with a client certificate. */
  readonly authorization?: string;
}

/** The address and credentials of one identity at one API server. Calls may run concurrently. */
export interface Connection {
  /** `https://host:port`, with an optional path prefix, without a slash at its end. */
  readonly server: string;
  /**
   * Returns credentials, cached for a minute. After that, reads token files and CA files and runs
   * exec plugins again.
   */
  credentials(): Promise<Credentials>;
  /** Reports a 401 for these credentials. The next `credentials()` reads everything again. */
  invalidate(rejected: Credentials): void;
}
