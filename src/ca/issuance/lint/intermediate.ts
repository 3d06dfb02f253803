// SPDX-License-Identifier: Apache-2.0
import { MIN_INTERMEDIATE_LIFETIMES } from '#api/signer/cluster-signer-limits.ts';
import {
  OID_AUTHORITY_KEY_IDENTIFIER,
  OID_BASIC_CONSTRAINTS,
  OID_COMMON_NAME,
  OID_CRL_DISTRIBUTION_POINTS,
  OID_KEY_USAGE,
  OID_NAME_CONSTRAINTS,
  OID_ORGANIZATION,
  OID_SUBJECT_ALT_NAME,
  OID_SUBJECT_KEY_IDENTIFIER,
} from '#pki/der/oids.ts';
import type { TbsCertificate } from '#pki/x509/certificate.ts';
import { extensionsFault, type ExtensionTable } from './ca.ts';
import type { LintRule } from './rule.ts';

/** Extensions of an intermediate, and whether each is critical. */
const EXTENSIONS: ExtensionTable = new Map([
  [OID_KEY_USAGE, true],
  [OID_BASIC_CONSTRAINTS, true],
  [OID_NAME_CONSTRAINTS, true],
  [OID_SUBJECT_ALT_NAME, false],
  [OID_SUBJECT_KEY_IDENTIFIER, false],
  [OID_AUTHORITY_KEY_IDENTIFIER, false],
  [OID_CRL_DISTRIBUTION_POINTS, false],
]);

/** Requires a CA that certifies leaves only. Its key signs certificates, and CRLs at most. */
export const intermediateCa: LintRule = {
  name: 'intermediate-ca',
  source: 'RFC 5280 §4.2.1.3, §4.2.1.9',
  check: ({ isCa, pathLen, keyUsage }) => {
    if (!isCa || pathLen !== 0) return 'it is not a CA with path length 0';
    const others = [...(keyUsage ?? [])].filter(
      (bit) => bit !== 'keyCertSign' && bit !== 'cRLSign',
    );
    if (others.length > 0) return `its key is for ${others.join(' and ')}, too`;
    return keyUsage?.has('keyCertSign') === true ? undefined : 'its key signs no certificates';
  },
};

export const intermediateExtensionsOnly: LintRule = {
  name: 'intermediate-extensions-only',
  source: 'RFC 5280 §4.2',
  check: ({ extensions }) => extensionsFault(extensions, EXTENSIONS),
};

/** Requires the name of the cluster and one common name. */
export const intermediateSubject: LintRule = {
  name: 'intermediate-subject',
  source: 'docs/adr/0082',
  check: ({ subject: { attributes } }) => {
    const types = attributes.map(({ oid }) => oid);
    return types.length === 2 && types[0] === OID_ORGANIZATION && types[1] === OID_COMMON_NAME
      ? undefined
      : 'the subject is not one organization and one common name';
  },
};

/**
 * Requires the trust domain as the only name, and constraints that permit URIs of no other trust
 * domain.
 */
export const oneTrustDomain: LintRule = {
  name: 'one-trust-domain',
  source: 'SPIFFE X509-SVID §3.2, RFC 5280 §4.2.1.10',
  check: ({ sans, nameConstraints }) => {
    const { dnsNames, ipAddresses, uris, emails, other } = sans;
    const others = dnsNames.length + ipAddresses.length + emails.length + other;
    const domain = /^spiffe:\/\/([^/]+)$/.exec(uris[0] ?? '')?.[1];
    if (others > 0 || uris.length !== 1 || domain === undefined) {
      return 'its only name is not the URI of a trust domain';
    }
    return nameConstraints && constraintsFault(nameConstraints, domain);
  },
};

function constraintsFault(
  { permitted, excluded }: NonNullable<TbsCertificate['nameConstraints']>,
  trustDomain: string,
): string | undefined {
  if (excluded.length > 0) return 'it has excluded names';
  for (const subtree of permitted) {
    if (subtree.kind !== 'uri' && subtree.kind !== 'dns') return 'it permits names of other kinds';
    if (subtree.text === '') return 'it permits every name by an empty constraint';
    if (subtree.kind === 'uri' && subtree.text !== trustDomain) {
      return 'it permits the URIs of another trust domain';
    }
  }
  return undefined;
}

/** Requires a life of at most a sixth of the issuer's, so that each is replaced in time. */
export const sixthOfIssuer: LintRule = {
  name: 'sixth-of-issuer',
  source: 'docs/adr/0082',
  check: (ca, issuer) => {
    const [life, whole] = [ca, issuer].map(({ notBefore, notAfter }) => notAfter - notBefore);
    return (life ?? Infinity) * MIN_INTERMEDIATE_LIFETIMES <= (whole ?? 0)
      ? undefined
      : `it lives for more than a ${MIN_INTERMEDIATE_LIFETIMES}th of the life of its issuer`;
  },
};
