// SPDX-License-Identifier: Apache-2.0
/** Clusters have approvers of their own, which may be faster than the runner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CR_CASES } from '#conformance/certificaterequest/cases.ts';
import type { AssertionResult } from '#conformance/case.ts';
import { CSR_CASES } from '#conformance/csr/cases.ts';
import type { ObservedRequest } from '#conformance/observed-request.ts';
import { goodCrSnapshot, ready, withCrScenarios } from '../support/conformance/cr-snapshot.ts';
import { goodCsrSnapshot, withScenario } from '../support/conformance/csr-snapshot.ts';
import {
  issued,
  pending,
  request,
  requested,
  snapshot,
  waiting,
  writtenAgain,
} from '../support/conformance/observed-requests.ts';
import { resultOf } from '../support/conformance/result-of.ts';

const byOthers = (made: ObservedRequest): ObservedRequest =>
  Object.assign({}, made, { runnerWrites: 0 });

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

const DENIED = 'another approver denied it';
const denied = (): ObservedRequest =>
  request(requested(), [snapshot('pending'), snapshot('denied')], { runnerWrites: 0 });

test('a request that another approver denies is none that the signer left unanswered', () => {
  for (const [id, scenario] of [
    ['CSR-01', 'plain'],
    ['CSR-11', 'annotated'],
    ['CSR-60', 'ECDSAP256'],
  ] as const) {
    const { outcome, evidence } = resultOf(CSR_CASES, id, withScenario(scenario, denied()));
    assert.deepEqual([outcome, evidence], ['skip', DENIED], id);
  }
});

test('a request of another signer that another approver denies shows nothing', () => {
  for (const [id, scenario] of [
    ['CSR-05', 'foreign'],
    ['CSR-06', 'longerName'],
  ] as const) {
    const { outcome, evidence } = resultOf(CSR_CASES, id, withScenario(scenario, denied()));
    assert.deepEqual([outcome, evidence], ['skip', DENIED], id);
  }
  for (const [id, scenario] of [
    ['CR-05', 'foreign'],
    ['CR-06', 'otherGroup'],
  ] as const) {
    const { outcome } = resultOf(CR_CASES, id, withCrScenarios({ [scenario]: denied() }));
    assert.equal(outcome, 'skip', id);
  }
});

test('a signer that writes what another approver denied has not left it alone', () => {
  for (const [id, scenario] of [
    ['CSR-05', 'foreign'],
    ['CSR-06', 'longerName'],
  ] as const) {
    const { outcome } = resultOf(CSR_CASES, id, withScenario(scenario, writtenAgain(denied())));
    assert.equal(outcome, 'fail', id);
  }
});

test('a denied request that no issuer answers needs no failureTime', () => {
  const scenarios = { foreign: denied(), otherGroup: denied() };
  assert.equal(resultOf(CR_CASES, 'CR-08', withCrScenarios(scenarios)).outcome, 'pass');
});

test('a denial by another approver is no write of the signer', () => {
  const result = (made: ObservedRequest): AssertionResult =>
    resultOf(CSR_CASES, 'CSR-04', withScenario('denied', made));
  assert.equal(result(denied()).outcome, 'pass');
  assert.equal(result(writtenAgain(denied())).outcome, 'fail');
});

test('the reason of a denial is the one of its approver, not of the signer', () => {
  const conditions = [{ type: 'Denied', status: 'True' as const }];
  const mute = request(requested(), [snapshot('pending'), snapshot('denied', { conditions })]);
  for (const [id, scenario] of [
    ['CSR-16', 'certSign'],
    ['CSR-17', 'RSA1024'],
  ] as const) {
    assert.equal(resultOf(CSR_CASES, id, withScenario(scenario, mute)).outcome, 'skip', id);
  }
});

test('a burst counts without the requests that another approver denies', () => {
  const burst = (...requests: readonly ObservedRequest[]): AssertionResult =>
    resultOf(CSR_CASES, 'CSR-14', goodCsrSnapshot({ burst: requests }));
  assert.equal(burst(issued(), denied()).outcome, 'pass');
  assert.equal(burst(waiting(), denied()).outcome, 'fail');
  assert.equal(burst(denied(), denied()).outcome, 'skip');
});

test('an issuer that denies an approved request itself has not answered it', () => {
  const conditions = [
    ...waiting().versions.flatMap((each) => each.conditions),
    ready('False', 'Denied'),
  ];
  const plain = request(requested(), [snapshot('pending'), snapshot('denied', { conditions })]);
  assert.equal(resultOf(CR_CASES, 'CR-01', withCrScenarios({ plain })).outcome, 'fail');
});
