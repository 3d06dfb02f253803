// SPDX-License-Identifier: Apache-2.0
import { isIP } from 'node:net';
import { formatIp, isIpv4Mapped, parseIp } from '../../ip.ts';
import { canonicalSpiffeId } from './spiffe-id.ts';
import { inputError } from '../der/input-error.ts';
import { lowerAscii } from '../der/der-text.ts';

/** RFC 1035 §2.3.4, as text. */
const MAX_DNS_NAME = 253;

/** Names beyond this are not names; the SPIFFE ID standard draws the same line. */
const MAX_URI_BYTES = 2048;

/** RFC 5321 §4.5.3.1.1 and §4.5.3.1.3. */
const MAX_LOCAL_PART = 64;
const MAX_EMAIL = 254;

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Shown in messages: enough to find the name by. */
const SHOWN = 80;

/**
 * Lower case, letters, digits and hyphens only; `*` only as the whole first label with at least two
 * labels after it. International names must come as A-labels (RFC 5280 §7.2).
 *
 * @throws SignerError NAME_INVALID
 */
export function canonicalDnsName(text: string): string {
  const name = lowerAscii(text);
  if (name.length > MAX_DNS_NAME)
    throw invalid('DNS name', text, `has more than ${MAX_DNS_NAME} characters`);
  const wildcard = name.startsWith('*.');
  const labels = (wildcard ? name.slice(2) : name).split('.');
  if (wildcard && labels.length < 2)
    throw invalid('DNS name', text, 'is a wildcard over everything');
  for (const label of labels) {
    if (!LABEL.test(label)) {
      throw invalid(
        'DNS name',
        text,
        `has the label "${label.slice(0, SHOWN)}", which is not 1 to 63 letters, digits and inner hyphens`,
      );
    }
  }
  // A last label of digits makes URL parsers see an IPv4 address (WHATWG URL §3.5).
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? ''))
    throw invalid('DNS name', text, 'reads as an IP address');
  return name;
}

/**
 * RFC 5952 text. IPv4-mapped IPv6 addresses are refused: verifiers do not agree on what they are.
 *
 * @throws SignerError NAME_INVALID
 */
export function canonicalIp(text: string): string {
  const bytes = parseIp(text);
  const canonical = bytes === undefined ? undefined : formatIp(bytes);
  if (bytes === undefined || canonical === undefined) throw invalid('IP address', text, 'is none');
  if (isIpv4Mapped(bytes))
    throw invalid('IP address', text, 'is IPv4 mapped into IPv6; write it as IPv4');
  return canonical;
}

/** Scheme, the rest in characters of RFC 3986 with whole percent escapes. */
const URI =
  /^([A-Za-z][A-Za-z0-9+.-]*):((?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)$/;

/**
 * Scheme and host in lower case; no user information, no `.` or `..` segment however it is written.
 * SPIFFE IDs are held to their own standard.
 *
 * @throws SignerError NAME_INVALID
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
 * The domain in lower case, the local part as it is, without quoting or comments.
 *
 * @throws SignerError NAME_INVALID
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
  return inputError(
    'NAME_INVALID',
    `the ${kind} ${JSON.stringify(text.slice(0, SHOWN))} ${reason}`,
  );
}
