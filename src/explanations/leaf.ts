// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '../api/object/time.ts';
import { SignerError, attempt } from '../errors.ts';
import { fingerprint, readCertificates } from '../pki/x509/certificate.ts';
import type { TimelineEntry } from './explanation.ts';

/** The end of the leaf at the head of a chain, and what is said of it. */
export interface LeafText {
  readonly what: string;
  readonly moments: readonly TimelineEntry[];
}

/** @param pem - a chain, leaf first, as an object of the API server has it */
export function describeLeaf(pem: string): LeafText {
  const chain = attempt(() => readCertificates(pem));
  if (chain instanceof SignerError) return { what: 'a chain that cannot be read', moments: [] };
  const [leaf] = chain;
  if (leaf === undefined) return { what: 'an empty chain', moments: [] };
  const { notBefore, notAfter } = leaf;
  return {
    what: `${fingerprint(leaf.raw)}, valid from ${formatTime(notBefore)} until ${formatTime(notAfter)}, in a chain of ${chain.length}`,
    moments: [{ at: formatTime(notAfter), what: 'the certificate ends' }],
  };
}
