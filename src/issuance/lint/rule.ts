// SPDX-License-Identifier: Apache-2.0
import type { TbsCertificate } from '../../pki/x509/certificate.ts';
import type { SigningCa } from '../signing-ca.ts';

/** One rule about a leaf's to-be-signed bytes. */
export interface LintRule {
  readonly name: string;
  /** Where the rule comes from. */
  readonly source: string;
  /** What is wrong, or undefined. */
  readonly check: (leaf: TbsCertificate, issuer: SigningCa) => string | undefined;
}
