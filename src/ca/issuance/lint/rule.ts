// SPDX-License-Identifier: Apache-2.0
import type { TbsCertificate } from '#pki/x509/certificate.ts';
import type { SigningCa } from '../signing-ca.ts';

/** One rule about a TBSCertificate. */
export interface LintRule {
  readonly name: string;
  /** The section that defines the rule. */
  readonly source: string;
  /** Returns the problem, or undefined if the certificate keeps the rule. */
  readonly check: (leaf: TbsCertificate, issuer: SigningCa) => string | undefined;
}
