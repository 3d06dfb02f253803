// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { withDenied, withIssued } from '#api/request/pod-certificate-request.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { createPcrFairness, type PcrFairness } from '#requests/pcr-issuer/fairness.ts';
import { createRenewals } from '#requests/pcr-issuer/renewals.ts';
import { createExpiries } from '#requests/issuing/expiries.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

/** As in src/requests/pcr-issuer/renewals.ts. */
const RENEWAL_OVERDUE_MS = 10 * 60_000;
/** As in src/requests/issuing/expiries.ts. */
const MAX_NOTED = 50_000;

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 21, 6);
const REFRESH = START + HOUR;
const END = START + 24 * HOUR;

const same = (text: string): string => text;

let now: number;
let place: PcrFairness;
beforeEach(() => {
  now = START;
  place = createPcrFairness(createRenewals(createExpiries()), () => now);
});

const issued = (
  request: PodCertificateRequest,
  times: { beginRefreshAt?: number; notAfter?: number } = {},
): PodCertificateRequest =>
  withIssued(
    request,
    { chainPem: '', notBefore: START, beginRefreshAt: REFRESH, notAfter: END, ...times },
    START,
  );

test('a request shares a flow with those of its namespace and with those of its node', () => {
  assert.deepEqual(place.keyOf(podRequest()), {
    distinguishers: ['namespace team-a', 'node node-1'],
    deadline: undefined,
  });
});

test('a renewal is urgent from when the kubelet counts it overdue until it expires', () => {
  place.finished(issued(podRequest()));
  now = REFRESH + RENEWAL_OVERDUE_MS - 1;
  assert.equal(place.keyOf(podRequest()).deadline, undefined);
  now += 1;
  assert.equal(place.keyOf(podRequest()).deadline, END);
});

test('a request for another pod, signer or duration is not a renewal', () => {
  place.finished(issued(podRequest()));
  now = REFRESH + RENEWAL_OVERDUE_MS;
  for (const spec of [
    { podUID: 'other' },
    { signerName: 'example.com/other' },
    { maxExpirationSeconds: 86_400 },
  ]) {
    assert.equal(place.keyOf(podRequest(spec)).deadline, undefined);
  }
});

test('the latest certificate of a pod counts, in whatever order they are listed', () => {
  const [old, young] = [
    issued(podRequest()),
    issued(podRequest(), { beginRefreshAt: REFRESH + HOUR, notAfter: END + HOUR }),
  ];
  for (const order of [
    [old, young],
    [young, old],
  ]) {
    order.forEach(place.finished);
    now = REFRESH + RENEWAL_OVERDUE_MS;
    assert.equal(place.keyOf(podRequest()).deadline, undefined);
    now += HOUR;
    assert.equal(place.keyOf(podRequest()).deadline, END + HOUR);
  }
});

test('a denied request has no certificate to renew', () => {
  place.finished(withDenied(podRequest(), { reason: 'NotAllowed', message: '' }, START));
  now = END;
  assert.equal(place.keyOf(podRequest()).deadline, undefined);
});

test('a reduced request has the same fairness key', () => {
  const { metadata } = podRequest();
  const lean = { metadata, ...place.retainedFields(podRequest(), same) } as PodCertificateRequest;
  place.finished(issued(podRequest()));
  now = REFRESH + RENEWAL_OVERDUE_MS;
  assert.deepEqual(place.keyOf(lean), place.keyOf(podRequest()));
});

test('above the maximum the oldest certificate is forgotten', () => {
  const request = issued(podRequest());
  const ofPod = (podUID: string): PodCertificateRequest => ({
    ...request,
    spec: { ...request.spec, podUID },
  });
  for (let index = 0; index <= MAX_NOTED; index += 1) place.finished(ofPod(`pod-${index}`));
  now = REFRESH + RENEWAL_OVERDUE_MS;
  const deadlineOf = (index: number): number | undefined =>
    place.keyOf(ofPod(`pod-${index}`)).deadline;
  assert.deepEqual([deadlineOf(0), deadlineOf(1), deadlineOf(MAX_NOTED)], [undefined, END, END]);
});

test('a node that repeats requests for one pod makes no other namespace be forgotten', () => {
  place.finished(issued(podRequest()));
  const own = podRequest({ podUID: 'hostile' });
  for (let seconds = 0; seconds < MAX_NOTED + 10; seconds += 1) {
    const spec = { ...own.spec, maxExpirationSeconds: 3_600 + seconds };
    place.finished(issued({ ...own, metadata: { ...own.metadata, namespace: 'hostile' }, spec }));
  }
  now = REFRESH + RENEWAL_OVERDUE_MS;
  assert.equal(place.keyOf(podRequest()).deadline, END);
});
