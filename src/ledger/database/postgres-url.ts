// SPDX-License-Identifier: Apache-2.0
/** Where a PostgreSQL is, as its URL says, and how the connection is secured. Stricter than libpq: never TLS unverified. */
import type { ClientConfig } from 'pg';
import { type SignerError, usageError } from '../../errors.ts';

/** What the URL of a database does not say. */
export interface PostgresSecurity {
  /** Read for each connection: a password that is changed is used without a restart. */
  readonly password?: (() => Promise<string>) | undefined;
  /** PEM of the only CAs that the server's certificate may be of; absent: those of Node.js. */
  readonly ca?: string | undefined;
}

/** Parameters that name nothing else than {@link PostgresSecurity} and the path do. */
const KNOWN: ReadonlySet<string> = new Set(['sslmode', 'channel_binding', 'application_name']);
/** Modes of libpq that have TLS; all of them verify here. */
const VERIFIED: ReadonlySet<string> = new Set(['require', 'verify-ca', 'verify-full']);
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const POSTGRES_PORT = 5432;

/**
 * The parts of `postgresql://user:password@host:5432/database`. The connection has TLS, and the certificate is verified with
 * its name, unless the URL says `sslmode=disable` or the host is this one (a proxy beside the component).
 *
 * @throws SignerError USAGE, which repeats nothing of the URL: it may hold a password
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
    throw usage('it is no postgresql://<user>@<host>:5432/<database>');
  }
  if ([...url.searchParams.keys()].every((each) => KNOWN.has(each))) return url;
  throw usage('it has a parameter that is not known; leave all but sslmode out');
}

function isSecured({ hostname, searchParams }: URL, ca: string | undefined): boolean {
  const mode = searchParams.get('sslmode');
  if (mode === null) return ca !== undefined || !LOOPBACK.test(hostname);
  if (VERIFIED.has(mode)) return true;
  if (mode !== 'disable') {
    throw usage('its sslmode can be answered without TLS; write sslmode=verify-full, or disable');
  }
  if (ca === undefined) return false;
  throw usage(
    'it says sslmode=disable, and CAs for the certificate are given; leave one of them out',
  );
}

function usage(fault: string): SignerError {
  const message = `the URL of the database cannot be used: ${fault}`;
  return usageError(message);
}
