// SPDX-License-Identifier: Apache-2.0
/**
 * Rules of verifiers for the CAs of a chain beyond a valid path (docs/reference/verifiers.md).
 * `test/oracle/verifier-rules.test.ts` holds each rule to the verifiers themselves.
 */
import { OID_BASIC_CONSTRAINTS } from '../der/oids.ts';
import type { Certificate } from './certificate.ts';
import { deliveredChain, type PublishedTrust } from './delivered-chain.ts';
import { SignatureBudget, sameIn } from './issuers.ts';

/** The verifiers of the rules, each with its defaults. `OpenSSL strict` has `-x509_strict`. */
export type VerifierName =
  | 'OpenSSL'
  | 'OpenSSL strict'
  | 'Node'
  | 'Python before 3.13'
  | 'Python 3.13'
  | 'Go'
  | 'GnuTLS'
  | 'Java';

/** A rule, and the verifiers that enforce it. */
interface VerifierRule {
  readonly id: VerifierRuleId;
  readonly rejectedBy: readonly VerifierName[];
  readonly problem: string;
  readonly violates: (certificate: Certificate, trust: PublishedTrust) => boolean;
}

/** OpenSSL's X509_V_FLAG_X509_STRICT, which `ssl.create_default_context` of Python 3.13 sets. */
const STRICT = ['OpenSSL strict', 'Python 3.13'] as const;

/** The stable id of a rule. */
export type VerifierRuleId =
  | 'anchor-is-root'
  | 'ca-constraints-critical'
  | 'ca-key-usage'
  | 'ca-key-identifier'
  | 'issuer-key-identifier';

/** All rules, in the order of the findings. */
export const VERIFIER_RULES: readonly VerifierRule[] = [
  {
    id: 'anchor-is-root',
    // A chain of OpenSSL ends in a self-signed certificate without X509_V_FLAG_PARTIAL_CHAIN.
    rejectedBy: ['OpenSSL', 'OpenSSL strict', 'Node', 'Python before 3.13'],
    problem: 'is an anchor but not a root, and its root is not an anchor',
    violates: (certificate, trust) =>
      sameIn(certificate, trust.anchors) !== undefined && !leadsToRoot(certificate, trust),
  },
  {
    id: 'ca-constraints-critical',
    rejectedBy: STRICT,
    problem: 'is a CA whose basicConstraints are not critical (RFC 5280 §4.2.1.9)',
    violates: ({ extensions }) =>
      extensions.some(({ oid, critical }) => oid === OID_BASIC_CONSTRAINTS && !critical),
  },
  {
    id: 'ca-key-usage',
    rejectedBy: STRICT,
    problem: 'is a CA without keyUsage (RFC 5280 §4.2.1.3)',
    violates: ({ keyUsage }) => keyUsage === undefined,
  },
  {
    id: 'ca-key-identifier',
    rejectedBy: STRICT,
    problem: 'is a CA without subjectKeyIdentifier (RFC 5280 §4.2.1.2)',
    violates: ({ subjectKeyIdentifier }) => subjectKeyIdentifier === undefined,
  },
  {
    id: 'issuer-key-identifier',
    rejectedBy: STRICT,
    problem: 'has no authorityKeyIdentifier, and another CA signed it (RFC 5280 §4.2.1.1)',
    // A chain ends at an anchor, whose issuer is not looked for.
    violates: (certificate, { anchors, signatures = new SignatureBudget() }) =>
      certificate.authorityKeyIdentifier === undefined &&
      sameIn(certificate, anchors) === undefined &&
      !signatures.isSelfSigned(certificate),
  },
];

/** Reports whether a self-signed anchor is above a certificate, or is the certificate. */
function leadsToRoot(
  certificate: Certificate,
  { chain, anchors, now, signatures = new SignatureBudget() }: PublishedTrust,
): boolean {
  if (signatures.isSelfSigned(certificate)) return true;
  const roots = anchors.filter((each) => signatures.isSelfSigned(each));
  if (roots.length === 0) return false;
  const others = [...chain, ...anchors.filter((each) => !roots.includes(each))];
  const path = { chain: [certificate, ...others], anchors: roots, now, signatures };
  return deliveredChain(path).length > 0;
}
