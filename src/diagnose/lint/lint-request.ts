// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import { decodeRequest, verifyRequest, type CertificationRequest } from '#pki/x509/pkcs10.ts';
import { unreadable, type LintFinding } from './finding.ts';

type Check = readonly [rule: string, source: string, run: (request: CertificationRequest) => void];

const CHECKS: readonly Check[] = [
  ['request-signature', 'RFC 2986 §3', verifyRequest],
  [
    'key-strong',
    'Countersign',
    ({ publicKey }) => {
      checkKey(publicKey);
    },
  ],
];

/** Lints one DER PKCS#10 request. Returns only `readable` if the strict reader rejects it. */
export function lintRequest(der: Uint8Array, where: string): readonly LintFinding[] {
  const request = attempt(() => decodeRequest(der));
  if (request instanceof SignerError) {
    return [unreadable(where, request)];
  }
  const broken = CHECKS.flatMap(([rule, source, run]): readonly LintFinding[] => {
    const done = attempt(() => {
      run(request);
    });
    return done instanceof SignerError
      ? [{ severity: 'error', rule, source, where, message: done.message }]
      : [];
  });
  const bad = request.subject.problems.map((each): LintFinding => ({
    severity: 'warning',
    rule: 'subject-acceptable',
    source: 'Countersign',
    where,
    message: `the subject ${each}`,
  }));
  return [...broken, ...bad];
}
