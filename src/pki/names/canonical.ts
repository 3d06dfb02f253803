// SPDX-License-Identifier: Apache-2.0
import { quote } from '#base/quote.ts';
import { formatIp, isIpv4Mapped, parseIp } from '#base/ip.ts';
import { inputError } from '../der/input-error.ts';
import { lowerAscii } from '../der/der-text.ts';

/** RFC 1035 §2.3.4 allows 255 octets on the wire, which are 253 characters of text. */
const MAX_DNS_NAME = 253;

/** RFC 5321 §4.5.3.1.1 and §4.5.3.1.3. */
const MAX_LOCAL_PART = 64;
const MAX_EMAIL = 254;

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns the canonical spelling of a DNS name: lower case, with letters, digits and hyphens (RFC
 * 1034 §3.5). `*` is valid only as the whole first label, with at least two labels after it.
 * International names must be A-labels (RFC 5280 §7.2).
 *
 * @throws SignerError NAME_INVALID when the text is not such a name
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
 * Returns the canonical spelling of an IP address (RFC 5952). Rejects IPv4-mapped IPv6 addresses,
 * because verifiers disagree on whether they are IPv4 or IPv6.
 *
 * @throws SignerError NAME_INVALID when the text is not such an address
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

const ATOMS = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?:\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/;

/**
 * Returns the canonical spelling of an email address (RFC 5321 §4.1.2): the domain in lower case,
 * the local part unchanged and without quoting or comments.
 *
 * @throws SignerError NAME_INVALID when the text is not such an address
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
