// SPDX-License-Identifier: Apache-2.0
import { isIP } from 'node:net';
import { INVISIBLE_CHARACTERS, quote } from '#base/quote.ts';
import { inputError } from '../der/input-error.ts';
import { lowerAscii } from '../der/der-text.ts';
import { canonicalDnsName, canonicalIp } from './canonical.ts';
import { canonicalSpiffeId } from './spiffe-id.ts';

/** The limit of the SPIFFE ID standard (SPIFFE-ID §2.3), here for every URI. */
const MAX_URI_BYTES = 2048;

/**
 * Scheme, and the rest: hierarchical part, query, fragment, each in its characters of RFC 3986. An
 * authority ends where its characters end, so that the search takes linear time.
 */
const URI = new RegExp(
  [
    /^([A-Za-z][A-Za-z0-9+.-]*):/,
    /((?:\/\/[A-Za-z0-9\-._~:[\]@!$&'()*+,;=%]*(?=[/?#]|$)|(?!\/\/))(?:[A-Za-z0-9\-._~:/@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*)/,
    /(\?(?:[A-Za-z0-9\-._~:/?@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*)?/,
    /(#(?:[A-Za-z0-9\-._~:/?@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*)?$/,
  ]
    .map(({ source }) => source)
    .join(''),
);

/**
 * Schemes that always have a host, with their default ports (RFC 9110 §4.2, RFC 6455 §3, RFC 1738
 * §3.2, RFC 7252 §6, RFC 8323 §8, RFC 4516 §2, otherwise IANA's registry of service names).
 */
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  http: 80,
  https: 443,
  ws: 80,
  wss: 443,
  ftp: 21,
  coap: 5683,
  coaps: 5684,
  ldap: 389,
  ldaps: 636,
  ssh: 22,
  sftp: 22,
  git: 9418,
  svn: 3690,
  telnet: 23,
  gopher: 70,
  nfs: 2049,
  rsync: 873,
  rtsp: 554,
  rtsps: 322,
  ipp: 631,
  ipps: 631,
  imap: 143,
  imaps: 993,
  pop: 110,
  nntp: 119,
  amqp: 5672,
  amqps: 5671,
  mqtt: 1883,
  mqtts: 8883,
  redis: 6379,
  rediss: 6379,
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  mongodb: 27_017,
  ftps: 990,
  'coap+tcp': 5683,
  'coaps+tcp': 5684,
  'coap+ws': 80,
  'coaps+ws': 443,
};
const MAX_PORT = 65_535;

/**
 * Returns the canonical spelling of an absolute URI (RFC 3986 §6.2.2 and §6.2.3):
 *
 * - scheme and host in lower case,
 * - percent escapes in upper case, and none for a character that needs none,
 * - ports without leading zeros, and no default port,
 * - `/` for the empty path behind a host,
 * - the namespace of a `urn:` (RFC 8141 §3.1), and all of a `urn:uuid:` (RFC 9562 §4), in lower
 *   case,
 * - Unicode in normalization form C (RFC 3987 §5.3.2.2).
 *
 * Rejects parts that readers interpret differently: user information, empty segments, `.` and `..`
 * segments in any spelling, encoded slashes, and `https:` without `//`. Also rejects escapes of
 * escapes, of controls, of invisible characters and of bytes other than UTF-8. SPIFFE IDs and URNs
 * must follow their own standards.
 *
 * @throws SignerError NAME_INVALID when the text is not such a URI
 */
export function canonicalUri(text: string): string {
  if (text.length > MAX_URI_BYTES) throw invalid(text, `has more than ${MAX_URI_BYTES} bytes`);
  const { scheme, hierarchy, query, fragment } = partsOf(text);
  if (scheme === 'spiffe') return canonicalSpiffeId(text, hierarchy + query + fragment);
  const tail = unescaped(query, text) + unescaped(fragment, text);
  const hasHost = DEFAULT_PORTS[scheme] !== undefined;
  if (!hierarchy.startsWith('//')) {
    if (hasHost) throw invalid(text, `lacks "//" and a host after ${scheme}:`);
    const path = canonicalPath(hierarchy, text);
    return `${scheme}:${scheme === 'urn' ? canonicalUrn(path, text) : path}${tail}`;
  }
  if (scheme === 'urn') throw invalid(text, NOT_A_URN);
  return `${scheme}:${hierarchyWithHost(scheme, hierarchy, text)}${tail}`;
}

function hierarchyWithHost(scheme: string, hierarchy: string, uri: string): string {
  const authority = hierarchy.slice(2).split('/', 1)[0] ?? '';
  const path = canonicalPath(hierarchy.slice(2 + authority.length), uri);
  const root = path === '' ? '/' : path;
  if (scheme === 'file' && lowerAscii(authority) === 'localhost')
    throw invalid(uri, 'names the local host; write file: and the path');
  return `//${canonicalAuthority(authority, scheme, uri)}${root}`;
}

interface UriParts {
  /** The scheme in lower case. */
  readonly scheme: string;
  /** Authority and path. */
  readonly hierarchy: string;
  /** The query with `?`, or ''. */
  readonly query: string;
  /** The fragment with `#`, or ''. */
  readonly fragment: string;
}

function partsOf(text: string): UriParts {
  const match = URI.exec(text);
  const [, scheme = '', hierarchy = '', query = '', fragment = ''] = match ?? [];
  if (hierarchy + query + fragment === '') {
    throw invalid(text, 'is not an absolute URI (RFC 3986)');
  }
  return { scheme: lowerAscii(scheme), hierarchy, query, fragment };
}

/**
 * Segments that go up or stay. Also with blanks or parameters, which some servers drop first, and
 * of more dots, which some file systems drop.
 */
const DOT_SEGMENT = /(?:^|\/)\s*\.+\s*(?:;[^/]*)?(?:\/|$)/;
/**
 * Slashes and backslashes, and the characters that the code pages of Windows map to one ("best
 * fit").
 */
const SEPARATOR = /[/\\\u2044\u2215\u2216\u29f5\u29f8\u29f9\u00a5\u20a9]/g;

function canonicalPath(path: string, uri: string): string {
  const plain = unescaped(path, uri);
  const read = plain.includes('%') ? decodeURIComponent(plain).normalize('NFKC') : plain;
  if (read.match(SEPARATOR)?.length !== plain.match(SEPARATOR)?.length)
    throw invalid(uri, 'has an encoded slash or backslash in its path');
  if (DOT_SEGMENT.test(read)) throw invalid(uri, 'has a "." or ".." segment');
  // Servers merge slashes, so a path with more of them is another spelling.
  if (plain.includes('//')) throw invalid(uri, 'has an empty segment in its path');
  return plain;
}

const NOT_A_URN = 'is not a URN (urn:<namespace>:<name>, RFC 8141)';
/** Namespace identifier and the first character of the name (RFC 8141 §2). */
const URN_PATH = /^[A-Za-z0-9][A-Za-z0-9-]{0,30}[A-Za-z0-9]:[^/]/;

/** The path of a `urn:uuid:` (RFC 9562 §4), in lower case. */
const UUID_PATH = /^uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the path with its namespace in lower case. The namespace of a URN is equal in either case
 * (RFC 8141 §3.1), and so is all of a UUID (RFC 9562 §4).
 */
function canonicalUrn(path: string, uri: string): string {
  if (!URN_PATH.test(path)) throw invalid(uri, NOT_A_URN);
  const [namespace = ''] = path.split(':', 1);
  const lowered = lowerAscii(namespace) + path.slice(namespace.length);
  if (!lowered.startsWith('uuid:')) return lowered;
  const uuid = lowerAscii(path);
  if (!UUID_PATH.test(uuid)) throw invalid(uri, 'is not a UUID (RFC 9562 §4)');
  return uuid;
}

const ESCAPE = /%[0-9A-Fa-f]{2}/g;
const UNRESERVED = /^[A-Za-z0-9\-._~]$/;
/** A percent sign that would begin an escape for a reader that decodes twice. */
const TWICE_ESCAPED = /%25(?:[0-9A-Fa-f]|%3[0-9])/i;

/** Normalizes percent escapes (RFC 3986 §6.2.2.1 and §6.2.2.2). */
function unescaped(part: string, uri: string): string {
  if (!part.includes('%')) return part;
  if (!isUtf8(part)) throw invalid(uri, 'has percent escapes that are not UTF-8');
  const plain = part.replace(ESCAPE, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return UNRESERVED.test(character) ? character : escape.toUpperCase();
  });
  const read = decodeURIComponent(plain);
  if (read.search(INVISIBLE_CHARACTERS) !== -1)
    throw invalid(uri, 'has an escaped control or invisible character');
  if (read.normalize('NFC') !== read)
    throw invalid(uri, 'has escapes that are not in normalization form C');
  if (TWICE_ESCAPED.test(plain)) throw invalid(uri, 'has an escaped percent escape');
  return plain;
}

function isUtf8(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the canonical authority. Its host is a fully qualified domain name or an IP address (RFC
 * 5280 §4.2.1.6).
 */
function canonicalAuthority(authority: string, scheme: string, uri: string): string {
  if (authority.includes('@')) throw invalid(uri, 'has user information');
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d+))?$/.exec(authority);
  const [, host = '', port] = match ?? [];
  if (host === '') throw invalid(uri, 'has no host');
  return canonicalHost(host, uri) + canonicalPort(port, scheme, uri);
}

function canonicalHost(host: string, uri: string): string {
  if (host.startsWith('[')) {
    const address = canonicalIp(host.slice(1, -1));
    if (!address.includes(':')) throw invalid(uri, 'has an IPv4 address in brackets');
    return `[${address}]`;
  }
  const name = isIP(host) === 4 ? host : canonicalDnsName(host);
  if (name.startsWith('*')) throw invalid(uri, 'has a wildcard host');
  return name;
}

/** Returns the canonical port (RFC 3986 §6.2.3). */
function canonicalPort(digits: string | undefined, scheme: string, uri: string): string {
  if (digits === undefined) return '';
  const port = Number(digits);
  if (port === 0 || port > MAX_PORT) throw invalid(uri, `has a port that is not 1 to ${MAX_PORT}`);
  return port === DEFAULT_PORTS[scheme] ? '' : `:${port}`;
}

function invalid(text: string, reason: string): Error {
  return inputError('NAME_INVALID', `the URI ${quote(text)} ${reason}`);
}
