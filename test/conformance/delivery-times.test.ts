// SPDX-License-Identifier: Apache-2.0
/** Times of a leaf count from its delivery, however long the run takes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CSR_CASES } from '#conformance/csr/cases.ts';
import type { ObservedRequest } from '#conformance/observed-request.ts';
import { PCR_CASES } from '#conformance/pcr/cases.ts';
import { withScenario } from '../support/conformance/csr-snapshot.ts';
import { NOW } from '../support/conformance/leaf.ts';
import { issued } from '../support/conformance/observed-requests.ts';
import { podIssued, podRequested, withPodScenarios } from '../support/conformance/pcr-snapshot.ts';
import { resultOf } from '../support/conformance/result-of.ts';

const MINUTE = 60_000;

/** The same request in a run that ends ten minutes after the delivery. */
const inLongRun = (request: ObservedRequest): ObservedRequest =>
  Object.assign({}, request, { endedAt: NOW + 10 * MINUTE });

const outcomeOf = (id: string, parts: Parameters<typeof issued>[1]): string =>
  resultOf(CSR_CASES, id, withScenario('plain', inLongRun(issued(undefined, parts)))).outcome;

test('a leaf that starts three minutes after its delivery fails CSR-36', () => {
  assert.equal(outcomeOf('CSR-36', { notBefore: NOW + 3 * MINUTE }), 'fail');
});

test('a leaf of five minutes is valid at its delivery, if not at the end of the run', () => {
  assert.equal(outcomeOf('CSR-36', { notBefore: NOW, notAfter: NOW + 5 * MINUTE }), 'pass');
});

test('a leaf that was backdated by an hour passes CSR-37, and by more fails it', () => {
  assert.equal(outcomeOf('CSR-37', { notBefore: NOW - 60 * MINUTE }), 'pass');
  assert.equal(outcomeOf('CSR-37', { notBefore: NOW - 62 * MINUTE }), 'fail');
});

test('a leaf of a pod that was backdated by less than five minutes passes PCR-17', () => {
  const pod = (notBefore: number): string => {
    const request = inLongRun(podIssued(podRequested(), { notBefore }));
    return resultOf(PCR_CASES, 'PCR-17', withPodScenarios({ pod: request, plain: request }))
      .outcome;
  };
  assert.equal(pod(NOW - 299_000), 'pass');
  assert.equal(pod(NOW - 7 * MINUTE), 'fail');
  assert.equal(pod(NOW + 6 * MINUTE), 'fail');
});
