// SPDX-License-Identifier: Apache-2.0
import { quote } from '../../quote.ts';
import { isIP } from 'node:net';
import { formatIp, isIpv4Mapped, parseIp } from '../../ip.ts';
import { canonicalSpiffeId } from './spiffe-id.ts';
import { inputError } from '../der/input-error.ts';
import { lowerAscii } from '../der/der-text.ts';

/** RFC 1035 §2.3.4 allows 255 octets on the wire, which are 253 characters of text. */
const MAX_DNS_NAME = 253;

/** As the SPIFFE ID standard limits its URIs (SPIFFE-ID §2.3). */
const MAX_URI_BYTES = 2048;

/** RFC 5321 §4.5.3.1.1 and §4.5.3.1.3. */
const MAX_LOCAL_PART = 64;
const MAX_EMAIL = 254;

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The canonical spelling of a DNS name: lower case; letters, digits and hyphens (RFC 1034 §3.5); `*` only
 * as the whole first label, with at least two labels after it. International names must be A-labels
 * (RFC 5280 §7.2).
 *
 * @throws SignerError NAME_INVALID when the text is no such name
 */
export function canonicalDnsName(text: string): string {
  const name = lowerAscii(text);
  if (name.length > MAX_DNS_NAME)
    throw invalid('DNS name', text, `has more than ${MAX_DNS_NAME} characters`);
  const wildcard = name.startsWith('*.');
  const labels = (wildcard ? name.slice(2) : name).split('.');
  if (wildcard && labels.length < 2)
    throw invalid('DNS name', text, 'is a wildcard for a whole top-level domain');
  for (const label of labels) {
    if (!LABEL.test(label)) {
      throw invalid(
        'DNS name',
        text,
        `has the label ${quote(label)}, which is not 1 to 63 letters, digits and inner hyphens`,
      );
    }
  }
  // A last label of digits makes URL parsers see an IPv4 address (WHATWG URL §3.5).
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? ''))
    throw invalid('DNS name', text, 'reads as an IP address');
  return name;
}

/**
 * The canonical spelling of an IP address (RFC 5952). IPv4-mapped IPv6 addresses are refused: verifiers
 * do not agree on whether they are IPv4 or IPv6.
 *
 * @throws SignerError NAME_INVALID when the text is no such address
 */
export function canonicalIp(text: string): string {
  const bytes = parseIp(text);
  const canonical = bytes === undefined ? undefined : formatIp(bytes);
  if (bytes === undefined || canonical === undefined)
    throw invalid('IP address', text, 'cannot be parsed');
  if (isIpv4Mapped(bytes))
    throw invalid('IP address', text, 'is IPv4 mapped into IPv6; write it as IPv4');
  return canonical;
}

/** Scheme, the rest in characters of RFC 3986 with whole percent escapes. */
const URI =
  /^([A-Za-z][A-Za-z0-9+.-]*):((?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)$/;

/**
 * The canonical spelling of an absolute URI (RFC 3986): scheme and host in lower case; no user
 * information; no `.` or `..` segment, percent-encoded or not. SPIFFE IDs must follow their own standard.
 *
 * @throws SignerError NAME_INVALID when the text is no such URI
 */
export function canonicalUri(text: string): string {
  if (text.length > MAX_URI_BYTES)
    throw invalid('URI', text, `has more than ${MAX_URI_BYTES} bytes`);
  const match = URI.exec(text);
  if (match === null) throw invalid('URI', text, 'is not an absolute URI (RFC 3986)');
  const scheme = lowerAscii(match[1] ?? '');
  const rest = match[2] ?? '';
  if (scheme === 'spiffe') return canonicalSpiffeId(text, rest);
  const path = rest.split(/[?#]/, 1)[0] ?? '';
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) {
    throw invalid('URI', text, 'has a "." or ".." segment');
  }
  if (!rest.startsWith('//')) return `${scheme}:${rest}`;
  const authority = path.slice(2).split('/', 1)[0] ?? '';
  return `${scheme}://${canonicalAuthority(authority, text)}${rest.slice(2 + authority.length)}`;
}

/** RFC 5280 §4.2.1.6: the host is a fully qualified domain name or an IP address. */
function canonicalAuthority(authority: string, uri: string): string {
  if (authority.includes('@')) throw invalid('URI', uri, 'has user information');
  const match = /^(\[[^\]]*\]|[^:[\]]*)(:\d{1,5})?$/.exec(authority);
  const host = match?.[1] ?? '';
  const port = match?.[2] ?? '';
  if (host === '') throw invalid('URI', uri, 'has no host');
  if (host.startsWith('[')) return `[${canonicalIp(host.slice(1, -1))}]${port}`;
  const name = isIP(host) === 4 ? host : canonicalDnsName(host);
  if (name.startsWith('*')) throw invalid('URI', uri, 'has a wildcard host');
  return name + port;
}

const ATOMS = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?:\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/;

/**
 * The canonical spelling of an email address (RFC 5321 §4.1.2): the domain in lower case, the local part
 * unchanged and without quoting or comments.
 *
 * @throws SignerError NAME_INVALID when the text is no such address
 */
export function canonicalEmail(text: string): string {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  if (text.length > MAX_EMAIL || local.length > MAX_LOCAL_PART || !ATOMS.test(local)) {
    throw invalid('email address', text, 'is not local@domain (RFC 5321)');
  }
  const domain = canonicalDnsName(text.slice(at + 1));
  if (domain.startsWith('*')) throw invalid('email address', text, 'has a wildcard');
  return `${local}@${domain}`;
}

function invalid(kind: string, text: string, reason: string): Error {
  return inputError('NAME_INVALID', `the ${kind} ${quote(text)} ${reason}`);
}
