// SPDX-License-Identifier: Apache-2.0
/** The text of what a ceremony is about to sign. */
import type { CertificatePlan } from '#ca/ceremony/plan-certificate.ts';
import type { PlannedList } from '#ca/ceremony/plan-list.ts';
import { digestOf } from '#ca/ceremony/transcript.ts';
import { lintCertificate } from '#diagnose/lint/certificate-rules.ts';
import type { LintFinding } from '#diagnose/lint/finding.ts';
import { readCertificateDer, readListDer } from '#diagnose/inspect/read-der.ts';
import type { InspectedObject } from '#diagnose/inspect/inspected.ts';
import { longText } from '#diagnose/inspect/text.ts';
import type { NameConstraint } from '#pki/names/constraint-match.ts';
import { decodeTbs } from '#pki/x509/certificate.ts';
import { encodeCertificate } from '#pki/x509/encode-certificate.ts';

/** Something to sign, for the reader. */
export interface SigningPreview {
  readonly text: string;
  readonly errors: readonly LintFinding[];
}

/** A signature of one byte: readers of whole objects need one, and none here verifies it. */
const NO_SIGNATURE = Uint8Array.of(0);

/** Characters of base64 on each line, as in PEM. */
const LINE = /.{1,64}/g;

/** Returns a planned certificate as text: its fields, its lint and its exact bytes. */
export function shownCertificate(plan: CertificatePlan): SigningPreview {
  const { tbs, issuer, notBefore } = plan;
  const der = encodeCertificate(tbs, issuer.signatureAlgorithm, NO_SIGNATURE);
  const { what } = readCertificateDer(der, plan.certificate);
  const findings = lintCertificate(der, plan.certificate, notBefore);
  const { nameConstraints } = decodeTbs(tbs);
  const constraints = (['permitted', 'excluded'] as const).flatMap((list) =>
    (nameConstraints?.[list] ?? []).map((each) => `  ${list.padEnd(14)}${constraintText(each)}\n`),
  );
  return {
    text: [
      fieldsOf(what, notBefore),
      ...constraints,
      ...findings.map(lintText),
      findings.length === 0 ? '  lint          no finding\n' : '',
      bytesText(tbs),
    ].join(''),
    errors: findings.filter(({ severity }) => severity === 'error'),
  };
}

/** Returns a planned CRL as text. Its strict reader has compared it with the file. */
export function shownList({ tbs, wanted, file }: PlannedList): SigningPreview {
  const der = encodeCertificate(tbs, wanted.issuer.signatureAlgorithm, NO_SIGNATURE);
  const { what } = readListDer(der, file);
  const text = `${fieldsOf(what, wanted.thisUpdate)}  lint          no finding: the strict reader compared it with the plan\n${bytesText(tbs)}`;
  return { text, errors: [] };
}

/** The fingerprint would be that of the unsigned object. */
function fieldsOf(what: InspectedObject, now: number): string {
  return longText([what.kind === 'certificate' ? { ...what, fingerprint: '' } : what], now)
    .replace(/\n+$/, '\n')
    .replace(/ \([^()]* left\)$/gm, '');
}

function constraintText(constraint: NameConstraint): string {
  return constraint.kind === 'ip' ? 'an address range' : `${constraint.kind} ${constraint.text}`;
}

function lintText({ severity, message, rule, source }: LintFinding): string {
  return `  lint          ${severity}: ${message} [${rule}, ${source}]\n`;
}

function bytesText(tbs: Uint8Array): string {
  const lines = Buffer.from(tbs).toString('base64').match(LINE) ?? [];
  return [
    `  to be signed  ${tbs.length} bytes, SHA-256 ${digestOf(tbs)}`,
    ...lines.map((line) => `    ${line}`),
    '',
  ].join('\n');
}
