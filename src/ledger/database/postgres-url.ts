// SPDX-License-Identifier: Apache-2.0
/**
 * Parses the URL of a PostgreSQL database into a connection. Stricter than libpq: TLS is always
 * verified.
 */
import type { ClientConfig } from 'pg';
import { type SignerError, usageError } from '#base/errors.ts';

/** Settings of a connection that the URL lacks. */
export interface PostgresSecurity {
  /**
   * Returns the password. It is called for each connection, so that a changed password needs no
   * restart.
   */
  readonly password?: (() => Promise<string>) | undefined;
  /** PEM of the only CAs trusted for the server's certificate. Default: those of Node.js. */
  readonly ca?: string | undefined;
}

/** Parameters that neither {@link PostgresSecurity} nor the path sets. */
const KNOWN: ReadonlySet<string> = new Set(['sslmode', 'channel_binding', 'application_name']);
/** Modes of libpq that use TLS. All of them verify here. */
const VERIFIED: ReadonlySet<string> = new Set(['require', 'verify-ca', 'verify-full']);
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const POSTGRES_PORT = 5432;

/**
 * Returns the parts of `postgresql://user:password@host:5432/database`. The connection uses TLS and
 * verifies the certificate with its name. It does not if the URL has `sslmode=disable` or names a
 * loopback host, such as a proxy in the same pod.
 * @throws SignerError USAGE, which repeats nothing of the URL because it may hold a password
 */
export function postgresConnection(
  text: string,
  { password, ca }: PostgresSecurity = {},
): ClientConfig {
  const url = parsed(text);
  const { username, hostname, port, pathname, searchParams } = url;
  const applicationName = searchParams.get('application_name');
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? POSTGRES_PORT : Number(port),
    user: decodeURIComponent(username),
    database: decodeURIComponent(pathname.slice(1)),
    password: password ?? decodeURIComponent(url.password),
    ssl: isSecured(url, ca) && { ...(ca === undefined ? {} : { ca }), minVersion: 'TLSv1.2' },
    ...(applicationName === null ? {} : { application_name: applicationName }),
  };
}

/** @throws SignerError USAGE */
function parsed(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.hostname === '') {
    throw usage('it is not postgresql://<user>@<host>:5432/<database>');
  }
  if ([...url.searchParams.keys()].every((each) => KNOWN.has(each))) return url;
  throw usage('it has an unknown parameter; remove all but sslmode');
}

function isSecured({ hostname, searchParams }: URL, ca: string | undefined): boolean {
  const mode = searchParams.get('sslmode');
  if (mode === null) return ca !== undefined || !LOOPBACK.test(hostname);
  if (VERIFIED.has(mode)) return true;
  if (mode !== 'disable') {
    throw usage(
      'its sslmode permits a connection without TLS; write sslmode=verify-full, or disable',
    );
  }
  if (ca === undefined) return false;
  throw usage('it has sslmode=disable, and CAs for the certificate are given; remove one of them');
}

function usage(fault: string): SignerError {
  const message = `the URL of the database cannot be used: ${fault}`;
  return usageError(message);
}
