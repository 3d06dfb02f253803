// SPDX-License-Identifier: Apache-2.0
/** Lifetimes that the API leaves to the signer of pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObservedRequest } from '#conformance/observed-request.ts';
import { PCR_CASES } from '#conformance/pcr/cases.ts';
import type { PcrSnapshot } from '#conformance/pcr/snapshot.ts';
import { NOW } from '../support/conformance/leaf.ts';
import { podIssued, podRequested, withPodScenarios } from '../support/conformance/pcr-snapshot.ts';
import { resultOf } from '../support/conformance/result-of.ts';

const HOUR = 3600;
const day = podRequested({ lifetimeSeconds: 24 * HOUR });
const lasting = (what: typeof day, seconds: number): ObservedRequest =>
  podIssued(what, { notAfter: NOW - 60_000 + seconds * 1000 });
const snapshotOf = (
  seen: Parameters<typeof withPodScenarios>[0],
  profile: Partial<PcrSnapshot['profile']> = {},
): PcrSnapshot => {
  const { profile: usual, ...rest } = withPodScenarios(seen);
  const { maxDuration: _most, ...unknown } = usual;
  return { ...rest, profile: Object.assign(unknown, profile) };
};

// PodCertificateRequestSpec.maxExpirationSeconds: "free to issue a certificate with any lifetime
// *shorter*".
test('a leaf shorter than a day fails no signer whose maximum is unknown', () => {
  const half = lasting(day, 12 * HOUR);
  const snapshot = snapshotOf({ podDefault: half, noLifetime: half });
  for (const id of ['PCR-22', 'PCR-24']) {
    const { outcome, evidence } = resultOf(PCR_CASES, id, snapshot);
    assert.deepEqual([outcome, evidence], ['skip', '43200 s; the profile names no maxDuration']);
  }
  const known = snapshotOf({ podDefault: half }, { maxDuration: 24 * HOUR });
  assert.equal(resultOf(PCR_CASES, 'PCR-22', known).outcome, 'fail');
});

test('a leaf shorter than an hour, or longer than requested, fails any signer', () => {
  const hour = podRequested({ lifetimeSeconds: HOUR });
  for (const seconds of [HOUR - 1, HOUR + 1]) {
    const snapshot = snapshotOf({ plain: lasting(hour, seconds) });
    assert.equal(resultOf(PCR_CASES, 'PCR-23', snapshot).outcome, 'fail');
  }
  const snapshot = snapshotOf({ noLifetime: lasting(day, 25 * HOUR) });
  assert.equal(resultOf(PCR_CASES, 'PCR-24', snapshot).outcome, 'fail');
});
