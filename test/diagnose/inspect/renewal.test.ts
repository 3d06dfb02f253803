// SPDX-License-Identifier: Apache-2.0
/**
 * The answers of `step certificate needs-renewal`: 66% of the life by default, a share of it, or
 * what is left.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InspectedCertificate, InspectedList } from '#diagnose/inspect/inspected.ts';
import { judgeRenewal, renewableList, type Threshold } from '#diagnose/inspect/renewal.ts';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const CERTIFICATE = {
  kind: 'certificate',
  source: 'x',
  subject: 'CN=x',
  notBefore: '2026-01-01T00:00:00Z',
  notAfter: '2026-01-05T04:00:00Z',
} as InspectedCertificate;

// It lives for 100 hours.
const laws: [hours: number, threshold: Threshold, needsRenewal: boolean][] = [
  [65.9, { elapsedPercent: 66 }, false],
  [66, { elapsedPercent: 66 }, true],
  [74, { elapsedPercent: 75 }, false],
  [75, { elapsedPercent: 75 }, true],
  [88, { leftSeconds: 12 * 3600 }, false],
  [88.1, { leftSeconds: 12 * 3600 }, true],
  [101, { elapsedPercent: 100 }, true],
  [101, { leftSeconds: 0 }, true],
];

for (const [hours, threshold, wanted] of laws) {
  test(`${hours} of 100 h, ${JSON.stringify(threshold)}: ${wanted ? 'yes' : 'no'}`, () => {
    const verdict = judgeRenewal(CERTIFICATE, threshold, BEGIN + hours * HOUR_MS);
    assert.equal(verdict.needsRenewal, wanted);
    assert.equal(verdict.elapsedPercent, Math.floor(hours));
  });
}

const LIST: InspectedList = {
  kind: 'crl',
  source: 'root.crl',
  issuer: 'CN=Root',
  thisUpdate: '2026-01-01T00:00:00Z',
  nextUpdate: '2026-01-05T04:00:00Z',
  signatureAlgorithm: '',
  revoked: [],
  revokedCount: 0,
};

test('a CRL needs renewal by its nextUpdate, and has its issuer as its subject', () => {
  const list = renewableList(LIST);
  assert.ok(list);
  const at = (hours: number): boolean =>
    judgeRenewal(list, { elapsedPercent: 50 }, BEGIN + hours * HOUR_MS).needsRenewal;
  assert.deepEqual([at(49.9), at(50)], [false, true]);
  assert.equal(list.subject, 'CRL of CN=Root');
});

test('a CRL without nextUpdate never ends, and needs no renewal', () => {
  const { nextUpdate: _, ...endless } = LIST;
  assert.equal(renewableList(endless), undefined);
});
