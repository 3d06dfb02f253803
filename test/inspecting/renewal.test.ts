// SPDX-License-Identifier: Apache-2.0
/** The answers of `step certificate needs-renewal`: 66% of the life by default, a share of it, or what is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InspectedCertificate } from '../../src/inspecting/inspected.ts';
import { judgeRenewal, type Threshold } from '../../src/inspecting/renewal.ts';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const CERTIFICATE = {
  ...{ kind: 'certificate', source: 'x', subject: 'CN=x' },
  ...{ notBefore: '2026-01-01T00:00:00Z', notAfter: '2026-01-05T04:00:00Z' },
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
  test(`after ${hours} of 100 hours, ${JSON.stringify(threshold)}: ${wanted ? 'yes' : 'no'}`, () => {
    const verdict = judgeRenewal(CERTIFICATE, threshold, BEGIN + hours * HOUR_MS);
    assert.equal(verdict.needsRenewal, wanted);
    assert.equal(verdict.elapsedPercent, Math.floor(hours));
  });
}
