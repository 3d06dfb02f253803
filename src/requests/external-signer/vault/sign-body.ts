// SPDX-License-Identifier: Apache-2.0
/** The body of `sign/<role>`: the names that the rules decided, and no others. */
import type { CertificateTemplate } from '../../issuing/issuing-ca.ts';
import * as messages from '../messages.ts';
import { isWithin, ttlOf, type RoleLimits } from './role.ts';

/** Reason why this certificate cannot be requested from Vault. */
export interface Unorderable {
  readonly fault: string;
}

/**
 * Limit on the bytes of all names, with those that encode each. It leaves the same length for the
 * rest of the chain. A longer answer could not be used, and may be paid.
 */
const MAX_NAMES_BYTES = 24 * 1024;
const BYTES_AROUND_NAME = 4;

/**
 * Returns the body of the call. A role takes no name from the PKCS#10 request, of which Vault then
 * uses the key alone.
 *
 * @param csr - PEM of the PKCS#10 request, or undefined if an old kubelet sent a bare key
 */
export function signBody(
  { subject, usages, validity }: Pick<CertificateTemplate, 'subject' | 'usages' | 'validity'>,
  csr: string | undefined,
  limits: RoleLimits,
): object | Unorderable {
  const { commonName, organizations, organizationalUnits, dnsNames, emails } = subject;
  if (csr === undefined) return { fault: messages.NO_PKCS10 };
  // A request may ask for fewer usages than the profile allows. A role adds its own to each.
  const added = limits.usages.find((each) => !isWithin(each, usages));
  if (added !== undefined) return { fault: messages.usageNotRequested(added) };
  const ttlSeconds = ttlOf((validity.notAfter - validity.notBefore) / 1000, limits);
  if (ttlSeconds < 1) return { fault: messages.NO_TIME };
  if (organizations.length + organizationalUnits.length > 0) {
    return { fault: messages.ORGANIZATIONS };
  }
  // These two kinds of names are one text, in which a comma separates them.
  const names = [...dnsNames, ...emails];
  const all = [commonName, ...names, ...subject.ipAddresses, ...subject.uris];
  const bytes = all.reduce((sum, each) => sum + Buffer.byteLength(each) + BYTES_AROUND_NAME, 0);
  if (bytes > MAX_NAMES_BYTES) return { fault: messages.namesTooLong(bytes, MAX_NAMES_BYTES) };
  const comma = names.find((each) => each.includes(','));
  if (comma !== undefined) return { fault: messages.commaInName(comma) };
  const uri = subject.uris.find((each) => each.endsWith('#'));
  if (uri !== undefined) return { fault: messages.emptyFragment(uri) };
  return {
    csr,
    ...(commonName === '' ? {} : { common_name: commonName }),
    exclude_cn_from_sans: true,
    alt_names: names.join(','),
    ip_sans: subject.ipAddresses,
    uri_sans: subject.uris,
    ttl: `${ttlSeconds}s`,
    format: 'pem',
  };
}
