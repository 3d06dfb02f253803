// SPDX-License-Identifier: Apache-2.0
import {
  authorityKeyIdentifier,
  basicConstraints,
  extKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
  type Extension,
} from '../pki/extensions.ts';
import type { PublicKeyInfo } from '../pki/keys.ts';
import { usageBits } from '../pki/usages.ts';
import type { KeyUsage } from '../vocabulary.ts';
import type { LeafSubject } from './leaf-subject.ts';

export interface LeafExtensionsInput {
  readonly subject: LeafSubject;
  readonly publicKey: PublicKeyInfo;
  readonly usages: readonly KeyUsage[];
  readonly issuerKeyIdentifier: Uint8Array;
}

/** Key usages that only an RSA key can be used for (RFC 5480 §3, RFC 8410 §5). */
const RSA_ONLY: ReadonlySet<KeyUsage> = new Set(['key encipherment', 'data encipherment']);

/**
 * The extensions of a leaf, in the order Go writes them: key usage, extended key usage, basic
 * constraints CA:FALSE, key identifiers, subject alternative names (critical under an empty
 * subject, RFC 5280 §4.2.1.6). No other extension is ever copied or added.
 */
export function leafExtensions(input: LeafExtensionsInput): readonly Extension[] {
  const { subject, publicKey } = input;
  const usable = input.usages.filter(
    (usage) => publicKey.algorithm === 'RSA' || !RSA_ONLY.has(usage),
  );
  const usages = usageBits(usable);
  const sans = {
    dnsNames: subject.dnsNames,
    ipAddresses: subject.ipAddresses,
    uris: subject.uris,
    emails: subject.emails,
  };
  const hasSans = Object.values(sans).some((values) => values.length > 0);
  const emptyName =
    subject.commonName === '' &&
    subject.organizations.length === 0 &&
    subject.organizationalUnits.length === 0;
  return [
    ...(usages.keyUsage.length > 0 ? [keyUsage(usages.keyUsage)] : []),
    ...(usages.extKeyUsage.length > 0 ? [extKeyUsage(usages.extKeyUsage)] : []),
    basicConstraints({ ca: false }),
    subjectKeyIdentifier(publicKey.spki),
    authorityKeyIdentifier(input.issuerKeyIdentifier),
    ...(hasSans ? [subjectAltName(sans, emptyName)] : []),
  ];
}
