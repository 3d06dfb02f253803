// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { NOW } from '../../support/pki/chain.ts';
import { ISSUING, ROOT, certificatesOf } from '../../support/ca/intermediate.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { pcrStage, type Stage } from '../../support/requests/issuance-stage.ts';

const PATH =
  '/apis/certificates.k8s.io/v1/namespaces/team-a/podcertificaterequests/req-web-0/status';

/** `metav1.Condition`, ValidateCondition. */
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const WHOLE_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

type Status = NonNullable<PodCertificateRequest['status']>;

function statusOf(stage: Stage<PodCertificateRequest>): Status {
  const [sent, ...more] = stage.sent();
  assert.deepEqual(more, []);
  return sent?.status ?? {};
}

test('issuing is one PUT to /status with the resourceVersion, and nothing else', async () => {
  const stage = pcrStage();
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['issued', 'Issued']);
  assert.equal(outcome.event, undefined);
  assert.deepEqual(outcome.written?.metadata, stage.server.stored?.metadata);
  assert.deepEqual(
    stage.requests.map(({ method, path }) => [method, path]),
    [['PUT', PATH]],
  );
  assert.equal(stage.sent()[0]?.metadata.resourceVersion, '7');
});

test('the chain is the leaf and its intermediates, in order, without the root', async () => {
  const stage = pcrStage();
  await stage.handle();
  const [leaf, issuing, ...more] = certificatesOf(statusOf(stage).certificateChain ?? '');
  assert.ok(leaf !== undefined && issuing !== undefined);
  assert.deepEqual(more, []);
  assert.equal(issuing.fingerprint256, ISSUING.fingerprint256);
  assert.ok(leaf.checkIssued(ISSUING) && leaf.verify(ISSUING.publicKey));
  assert.ok(issuing.verify(ROOT.publicKey));
  assert.equal(leaf.subjectAltName, 'URI:spiffe://cluster.local/ns/team-a/sa/web');
  assert.ok(leaf.publicKey.equals(createPublicKey(privateKey('P-256'))));
});

test('the status has the leaf’s times in whole seconds, with beginRefreshAt between', async () => {
  const stage = pcrStage({ maxExpirationSeconds: 7200 });
  await stage.handle();
  const {
    certificateChain = '',
    notBefore = '',
    notAfter = '',
    beginRefreshAt = '',
  } = statusOf(stage);
  const [leaf] = certificatesOf(certificateChain);
  for (const time of [notBefore, notAfter, beginRefreshAt]) assert.match(time, WHOLE_SECONDS);
  assert.equal(Date.parse(notBefore), leaf?.validFromDate.getTime());
  assert.equal(Date.parse(notAfter), leaf?.validToDate.getTime());
  assert.equal(Date.parse(notAfter) - Date.parse(notBefore), 7_200_000);
  const refresh = Date.parse(beginRefreshAt);
  assert.ok(refresh >= Date.parse(notBefore) + 600_000);
  assert.ok(refresh <= Date.parse(notAfter) - 600_000);
});

test('an issued request has only the condition Issued, with its time', async () => {
  const stage = pcrStage();
  await stage.handle();
  const [condition, ...more] = statusOf(stage).conditions ?? [];
  assert.deepEqual([condition?.type, condition?.status, more], ['Issued', 'True', []]);
  assert.match(condition?.reason ?? '', REASON);
  assert.match(condition?.lastTransitionTime ?? '', WHOLE_SECONDS);
});

const annotations = { 'example.com/admin': 'yes' };
const ends = [
  [
    'Denied',
    'denied',
    { unverifiedUserAnnotations: annotations },
    'InvalidUnverifiedUserAnnotations',
  ],
  ['Failed', 'failed', { stubPKCS10Request: 'aGVsbG8=' }, 'MalformedRequest'],
] as const;

for (const [type, outcome, spec, reason] of ends) {
  test(`${type} is one PUT with that condition, without chain and times`, async () => {
    const stage = pcrStage(spec);
    const found = await stage.handle();
    assert.deepEqual([found.outcome, found.reason], [outcome, reason]);
    assert.equal(stage.requests[0]?.path, PATH);
    const status = statusOf(stage);
    assert.deepEqual(Object.keys(status), ['conditions']);
    const [condition, ...more] = status.conditions ?? [];
    assert.deepEqual([condition?.type, condition?.status, more], [type, 'True', []]);
    assert.equal(condition?.reason, reason);
    assert.match(reason, REASON);
    assert.match(condition.lastTransitionTime ?? '', WHOLE_SECONDS);
  });

  test(`${type}: an Event gives the reason, and no stale read follows`, async () => {
    const stage = pcrStage(spec);
    const { event, message, written } = await stage.handle();
    assert.deepEqual([event?.type, event?.reason], ['Warning', reason]);
    assert.equal(
      event?.note,
      `${message ?? ''}; once that is fixed, delete the pod: its kubelet does not repeat the request`,
    );
    assert.deepEqual(written?.metadata, stage.server.stored?.metadata);
  });
}

test('a finished request is ignored', async () => {
  const stage = pcrStage();
  const status = { conditions: [{ type: 'Issued', status: 'True' as const }] };
  const outcome = await stage.handle({ ...stage.request, status });
  assert.deepEqual(outcome, { outcome: 'ignored', reason: '' });
  assert.deepEqual(stage.requests, []);
});

const MINUTE = 60_000;

for (const minutes of [-10, -6, -4, 4, 6, 10]) {
  test(`with a clock ${minutes} min off, the status has the API server's time`, async () => {
    const stage = pcrStage();
    stage.ahead(minutes * MINUTE);
    await stage.handle();
    const { notBefore = '', conditions = [] } = statusOf(stage);
    assert.equal(Date.parse(notBefore), NOW - MINUTE);
    assert.equal(Date.parse(conditions[0]?.lastTransitionTime ?? ''), NOW);
  });
}

test('a signed leaf is delivered again until its notBefore is five minutes old', async () => {
  const stage = pcrStage();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  const old = Date.parse(stage.sent()[0]?.status?.notBefore ?? '');
  stage.later(old + 5 * MINUTE - (NOW + 700) - 1);
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  stage.later(1);
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['PUT', 'GET', 'PUT', 'GET', 'PUT']);
  const starts = stage.sent().map(({ status }) => Date.parse(status?.notBefore ?? ''));
  assert.deepEqual(starts, [old, old, old + 4 * MINUTE]);
});
