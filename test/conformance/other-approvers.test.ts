// SPDX-License-Identifier: Apache-2.0
/** Clusters have approvers of their own, which may be faster than the runner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CR_CASES } from '#conformance/certificaterequest/cases.ts';
import type { AssertionResult } from '#conformance/case.ts';
import { CSR_CASES } from '#conformance/csr/cases.ts';
import type { ObservedRequest } from '#conformance/observed-request.ts';
import { goodCrSnapshot } from '../support/conformance/cr-snapshot.ts';
import { withScenario } from '../support/conformance/csr-snapshot.ts';
import {
  issued,
  pending,
  waiting,
  writtenAgain,
} from '../support/conformance/observed-requests.ts';
import { resultOf } from '../support/conformance/result-of.ts';

const byOthers = (request: ObservedRequest): ObservedRequest =>
  Object.assign({}, request, { runnerWrites: 0 });

test('a request that another approver approves before its denial shows nothing', () => {
  const result = resultOf(CSR_CASES, 'CSR-04', withScenario('denied', byOthers(issued())));
  assert.deepEqual([result.outcome, result.evidence], ['skip', 'another approver approved it']);
});

test('a request that the runner could not deny shows nothing', () => {
  assert.equal(resultOf(CSR_CASES, 'CSR-04', withScenario('denied', pending())).outcome, 'skip');
});

test('an approval is known by its condition, even if its version was missed', () => {
  const { versions, ...rest } = byOthers(issued());
  const polled = { ...rest, versions: versions.filter(({ state }) => state !== 'approved') };
  assert.equal(resultOf(CSR_CASES, 'CSR-03', withScenario('unapproved', polled)).outcome, 'skip');
});

test('an approval by another approver is no write of the signer', () => {
  const snapshot = goodCrSnapshot();
  const foreign = (request: ObservedRequest): AssertionResult =>
    resultOf(CR_CASES, 'CR-05', {
      ...snapshot,
      scenarios: { ...snapshot.scenarios, foreign: request },
    });
  assert.equal(foreign(byOthers(waiting())).outcome, 'pass');
  assert.equal(foreign(writtenAgain(byOthers(waiting()))).outcome, 'fail');
  assert.equal(foreign(byOthers(issued())).outcome, 'fail');
});
