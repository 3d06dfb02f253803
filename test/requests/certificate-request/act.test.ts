// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DENIED } from '../../support/requests/certificate-request.ts';
import { ISSUING, ROOT, certificatesOf } from '../../support/ca/intermediate.ts';
import { certificateRequestStage } from '../../support/requests/issuance-stage.ts';

const PATH = '/apis/cert-manager.io/v1/namespaces/team-a/certificaterequests/web-1/status';

test('issuing is one PUT to /status of only resourceVersion, chain, anchors and Ready', async () => {
  const stage = certificateRequestStage();
  const outcome = await stage.handle();
  assert.deepEqual(
    [outcome.outcome, outcome.reason, outcome.event],
    ['issued', 'Issued', undefined],
  );
  assert.deepEqual(stage.calls(), [['PUT', PATH]]);
  const [sent] = stage.sent();
  assert.equal(sent?.metadata.resourceVersion, '1');
  const { certificate = '', ca = '', conditions = [], failureTime } = sent.status ?? {};
  const [leaf, issuing, ...more] = certificatesOf(Buffer.from(certificate, 'base64').toString());
  assert.ok(leaf !== undefined && issuing !== undefined);
  assert.ok(leaf.checkIssued(ISSUING) && leaf.verify(ISSUING.publicKey));
  assert.deepEqual([leaf.subjectAltName, leaf.ca, more], ['DNS:web.team-a.svc', false, []]);
  assert.equal(issuing.fingerprint256, ISSUING.fingerprint256);
  assert.deepEqual(
    certificatesOf(Buffer.from(ca, 'base64').toString()).map(
      ({ fingerprint256 }) => fingerprint256,
    ),
    [ROOT.fingerprint256],
  );
  assert.deepEqual(
    conditions.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Approved', 'True', 'cert-manager.io'],
      ['Ready', 'True', 'Issued'],
    ],
  );
  assert.equal(failureTime, undefined);
});

test('a denied request gets one PUT that shows the denial, and no Event', async () => {
  const stage = certificateRequestStage({ conditions: [DENIED] });
  const outcome = await stage.handle();
  assert.deepEqual(
    [outcome.outcome, outcome.reason, outcome.event],
    ['denied', 'Denied', undefined],
  );
  assert.deepEqual(stage.calls(), [['PUT', PATH]]);
  assert.equal(stage.sent()[0]?.status?.certificate, undefined);
});

test('a request that can never be issued gets one PUT and an Event of the same reason', async () => {
  const stage = certificateRequestStage({ isCA: true });
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['failed', 'CertificateAuthority']);
  assert.deepEqual(
    [outcome.event?.type, outcome.event?.reason],
    ['Warning', 'CertificateAuthority'],
  );
  assert.deepEqual(stage.calls(), [['PUT', PATH]]);
});

test('a request that no rule allows gets an Event; its controller shows that in Ready', async () => {
  const stage = certificateRequestStage({ dnsNames: ['example.com'] });
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['undecided', 'NoRuleMatched']);
  assert.match(outcome.event?.note ?? '', /services-of-a-team.*example\.com/);
  assert.deepEqual(stage.calls(), []);
});
