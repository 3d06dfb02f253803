// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { judgeTrust } from '#pki/x509/verifier-rules.ts';
import type { LintFinding } from './finding.ts';

/** A file with this name has a chain, which ends below its root. */
const CHAIN_FILE = /(?:^|[ /])tls\.crt$/;

/**
 * Lints CA certificates that are together in one place as anchors: which verifiers reject leaves
 * below them. A single certificate has its rules in `certificate-rules.ts`.
 *
 * @param ders - the certificates of the place. It has no anchors unless all are CAs.
 * @param now - milliseconds since 1970
 */
export function lintAnchors(
  ders: readonly Uint8Array[],
  where: string,
  now: number,
): readonly LintFinding[] {
  if (CHAIN_FILE.test(where)) return [];
  const read = attempt(() => ders.map((der) => decodeCertificate(der)));
  if (read instanceof SignerError || !read.every(({ isCa }) => isCa)) return [];
  return judgeTrust({ chain: [], anchors: read, now })
    .filter(({ rule }) => rule === 'anchor-is-root')
    .map(({ rule, message }) => ({
      severity: 'warning',
      rule,
      source: 'docs/reference/verifiers.md',
      where,
      message: `as an anchor, ${message}`,
    }));
}
