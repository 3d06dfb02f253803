// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '#api/object/time.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { fingerprint, readCertificates, type Certificate } from '#pki/x509/certificate.ts';
import { requestedNames } from '#pki/x509/requested-names.ts';
import { printable } from '#base/quote.ts';
import type { TimelineEntry } from './explanation.ts';

/** Description of the first leaf of a chain, and its expiry. */
export interface LeafText {
  readonly what: string;
  readonly moments: readonly TimelineEntry[];
}

/**
 * Describes the leaf of a chain.
 *
 * @param pem - a chain, leaf first, as in an object of the API server
 */
export function describeLeaf(pem: string): LeafText {
  const chain = attempt(() => readCertificates(pem));
  if (chain instanceof SignerError) return { what: 'a chain that cannot be read', moments: [] };
  const [leaf] = chain;
  if (leaf === undefined) return { what: 'an empty chain', moments: [] };
  const { notBefore, notAfter } = leaf;
  return {
    what: `${fingerprint(leaf.raw)}${namesText(leaf)}, valid from ${formatTime(notBefore)} until ${formatTime(notAfter)}, in a chain of ${chain.length}`,
    moments: [{ at: formatTime(notAfter), what: 'the certificate ends' }],
  };
}

/** Maximum number of names that are shown. */
const MAX_LEAF_NAMES = 8;

/** Returns ` for spiffe://…, web.team-a.svc`, or '' if no name can be read. */
function namesText(leaf: Certificate): string {
  const found = attempt(() => requestedNames(leaf));
  if (found instanceof SignerError) return '';
  const { commonName, uris, dnsNames, ipAddresses, emails } = found;
  const names = [commonName, ...uris, ...dnsNames, ...ipAddresses, ...emails].filter(Boolean);
  const rest = names.length - MAX_LEAF_NAMES;
  const shown = [...names.slice(0, MAX_LEAF_NAMES), ...(rest > 0 ? [`${rest} more`] : [])];
  return shown.length === 0 ? '' : ` for ${printable(shown.join(', '))}`;
}
