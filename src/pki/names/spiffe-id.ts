// SPDX-License-Identifier: Apache-2.0
import { quote } from '#base/quote.ts';
import { inputError } from '../der/input-error.ts';
import { lowerAscii } from '../der/der-text.ts';

/** The longest trust domain (SPIFFE-ID §2.1). */
const MAX_TRUST_DOMAIN = 255;

/** No empty label: Go rejects a certificate with a URI host that has one. */
const TRUST_DOMAIN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const SEGMENT = /^[A-Za-z0-9._-]+$/;
/** A whole path of such segments in one match, because an ID can have a thousand. */
const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)*$/;

/**
 * Returns the canonical spelling of a SPIFFE ID (SPIFFE-ID §2), with the trust domain in lower
 * case. It has no user information, port, query, fragment or percent escape, no empty, `.` or `..`
 * segment, and no trailing slash.
 *
 * @param text - the whole URI, for messages
 * @param rest - the URI after `spiffe:`
 * @throws SignerError NAME_INVALID when the URI is not a SPIFFE ID
 */
export function canonicalSpiffeId(text: string, rest: string): string {
  if (!rest.startsWith('//')) throw invalid(text, 'lacks "//"');
  const slash = rest.indexOf('/', 2);
  const domain = slash === -1 ? rest.slice(2) : rest.slice(2, slash);
  const path = slash === -1 ? '' : rest.slice(slash);
  const trustDomain = lowerAscii(domain);
  if (!TRUST_DOMAIN.test(trustDomain) || trustDomain.length > MAX_TRUST_DOMAIN) {
    throw invalid(
      text,
      'has a trust domain that is not 1 to 255 letters, digits, inner dots, hyphens or underscores',
    );
  }
  if (!PATH.test(path)) {
    const wrong = path.split('/').slice(1).find(isForbidden) ?? '';
    throw invalid(text, `has the path segment ${quote(wrong)}, which SPIFFE forbids`);
  }
  return `spiffe://${trustDomain}${path}`;
}

function isForbidden(segment: string): boolean {
  return !SEGMENT.test(segment) || segment === '.' || segment === '..';
}

function invalid(text: string, reason: string): Error {
  return inputError('NAME_INVALID', `the SPIFFE ID ${quote(text, 160)} ${reason}`);
}
