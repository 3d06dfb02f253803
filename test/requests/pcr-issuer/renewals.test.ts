// SPDX-License-Identifier: Apache-2.0
/** Expiry seen: whose certificate ends first, and what a refused renewal leaves. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import {
  withDenied,
  withFailed,
  withIssued,
  type PodCertificateRequest,
} from '#api/request/pod-certificate-request.ts';
import { createRenewals, type Renewals } from '#requests/pcr-issuer/renewals.ts';
import { createExpiries, type Expiries } from '#requests/issuing/expiries.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { pcrStage } from '../../support/requests/issuance-stage.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 21, 6);
const END = START + 24 * HOUR;
const WEB = { signer: 'example.com/workload', namespace: 'team-a', owner: 'web' };

let expiries: Expiries;
let renewals: Renewals;
beforeEach(() => {
  expiries = createExpiries();
  renewals = createRenewals(expiries);
});

/** A request of a pod at `hours` after the start. */
function asked(
  hours: number,
  spec: Partial<PodCertificateRequest['spec']> = {},
  namespace = 'team-a',
) {
  const request = podRequest(spec);
  const creationTimestamp = new Date(START + hours * HOUR).toISOString();
  return { ...request, metadata: { ...request.metadata, namespace, creationTimestamp } };
}

function issued(request: PodCertificateRequest, notAfter = END): PodCertificateRequest {
  const times = { notBefore: START, beginRefreshAt: notAfter - 12 * HOUR, notAfter };
  return withIssued(request, { chainPem: '', ...times }, START);
}

const refusal = { reason: 'NotAllowed', message: '' } as const;

test('an owner’s soonest expiry is the first of its pods’ newest certificates', () => {
  renewals.note(issued(asked(0)));
  renewals.note(issued(asked(0, { podUID: 'other' }), END + HOUR));
  assert.deepEqual(expiries.series(START), [{ ...WEB, soonest: END / 1000, refused: undefined }]);
  renewals.note(issued(asked(12), END + 12 * HOUR));
  assert.equal(expiries.series(START)[0]?.soonest, (END + HOUR) / 1000);
});

test('a certificate that has expired is no longer counted', () => {
  renewals.note(issued(asked(0)));
  assert.deepEqual(expiries.series(END), []);
});

for (const [how, end] of [
  ['denied', (request: PodCertificateRequest) => withDenied(request, refusal, START)],
  [
    'failed',
    (request: PodCertificateRequest) =>
      withFailed(request, { reason: 'MalformedRequest', message: '' }, START),
  ],
] as const) {
  test(`a renewal that is ${how} is seen until its expiry or the next issuance`, () => {
    const [first, renewal] = [issued(asked(0)), end(asked(12))];
    renewals.note(first);
    renewals.note(renewal);
    assert.equal(expiries.series(START)[0]?.refused, END / 1000);
    renewals.note(issued(asked(13), END + 13 * HOUR));
    assert.equal(expiries.series(START)[0]?.refused, undefined);
  });
}

test('a denied first request renews nothing, and an older denial nothing newer', () => {
  renewals.note(withDenied(asked(0), refusal, START));
  assert.deepEqual(expiries.series(START), []);
  renewals.note(issued(asked(2)));
  renewals.note(withDenied(asked(1), refusal, START));
  assert.equal(expiries.series(START)[0]?.refused, undefined);
});

test('500 owners have series, a signer’s others share one, and places are reused', () => {
  for (let index = 0; index < 502; index += 1)
    renewals.note(
      issued(
        asked(0, { podUID: `pod-${index}`, serviceAccountName: `sa-${index}` }),
        END + index * 1000,
      ),
    );
  const series = expiries.series(START);
  assert.equal(series.length, 501);
  const others = { ...WEB, namespace: 'other', owner: 'other' };
  assert.deepEqual(series.at(-1), { ...others, soonest: END / 1000 + 500, refused: undefined });
  const later = expiries.series(END + 1000);
  assert.deepEqual(later.map(({ owner }) => owner).slice(-2), ['sa-500', 'sa-501']);
});

test('the Event of a refused renewal, not of a first request, says how long is left', async () => {
  const spec = { unverifiedUserAnnotations: { 'example.com/unknown': 'x' } };
  const first = await pcrStage(spec).handle();
  assert.doesNotMatch(first.event?.note ?? '', /renewal/);
  const replaces = (_request: unknown, now: number): number => now + 90 * 60_000;
  const renewed = await pcrStage(spec, { renewals: { replaces } }).handle();
  assert.equal(renewed.event?.type, 'Warning');
  assert.match(
    renewed.event.note,
    /this was a renewal: the pod's certificate expires in 1h30m, at 20\d\d-.*Z; once that is fixed/,
  );
});
