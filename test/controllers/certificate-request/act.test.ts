// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateRequest } from '../../../src/api/request/certificate-request.ts';
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import type { Authority } from '../../../src/authorities/contract.ts';
import { createActor } from '../../../src/controllers/certificate-request/act.ts';
import { REQUESTS } from '../../../src/controllers/certificate-request/index.ts';
import { SignerError } from '../../../src/errors.ts';
import { compileProfile } from '../../../src/issuance/profile.ts';
import { compileCertificateRequestPolicy } from '../../../src/policy/compile-policy.ts';
import { localIssuing } from '../../../src/runtime/issuing/local-issuing.ts';
import type { Outcome } from '../../../src/runtime/requests/outcome.ts';
import {
  DENIED,
  certificateRequest,
  servicesOfTeams,
  type CertificateRequestWanted,
} from '../../support/requests/certificate-request.ts';
import { NOW } from '../../support/pki/chain.ts';
import { ISSUING, ROOT, certificatesOf, openIntermediate } from '../../support/authorities/intermediate.ts';
import { oneObject, type OneObject } from '../../support/kube/single-object-api.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

const PATH = '/apis/cert-manager.io/v1/namespaces/team-a/certificaterequests/web-1/status';

interface Stage {
  readonly server: OneObject<CertificateRequest>;
  readonly calls: () => readonly (readonly string[])[];
  readonly sent: () => readonly CertificateRequest[];
  readonly handle: () => Promise<Outcome>;
}

function start(
  wanted: CertificateRequestWanted = {},
  authorityOf: () => Authority = openIntermediate,
): Stage {
  const request = certificateRequest(wanted);
  const server = oneObject(request);
  const component = recordedComponent({ clock: () => NOW });
  const { client } = component;
  client.answer(server.answer);
  const { handle } = createActor<ClusterSigner>({
    component,
    resource: REQUESTS,
    profileOf: ({ spec }) => compileProfile(spec),
    policyOf: ({ spec }) => compileCertificateRequestPolicy(spec),
    issuingOf: () => localIssuing(component, authorityOf()),
  });
  return {
    server,
    calls: () => client.requests.map(({ method, path }) => [method, path]),
    sent: () =>
      client.requests.flatMap(({ body }) =>
        body === undefined ? [] : [body as CertificateRequest],
      ),
    handle: () => handle(request, servicesOfTeams()),
  };
}

test('a certificate is one PUT to /status, fenced, with chain, anchors and Ready, and nothing else', async () => {
  const stage = start();
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

test('a denied request is one PUT that shows it, and no Event: who denied it has told', async () => {
  const stage = start({ conditions: [DENIED] });
  const outcome = await stage.handle();
  assert.deepEqual(
    [outcome.outcome, outcome.reason, outcome.event],
    ['denied', 'Denied', undefined],
  );
  assert.deepEqual(stage.calls(), [['PUT', PATH]]);
  assert.equal(stage.sent()[0]?.status?.certificate, undefined);
});

test('what can never become a leaf is one PUT, with an Event that has the same reason', async () => {
  const stage = start({ isCA: true });
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['failed', 'CertificateAuthority']);
  assert.deepEqual(
    [outcome.event?.type, outcome.event?.reason],
    ['Warning', 'CertificateAuthority'],
  );
  assert.deepEqual(stage.calls(), [['PUT', PATH]]);
});

test('what no rule allows is told in an Event, and nothing is written', async () => {
  const stage = start({ dnsNames: ['example.com'] });
  const outcome = await stage.handle();
  assert.deepEqual([outcome.outcome, outcome.reason], ['undecided', 'NoRuleMatched']);
  assert.match(outcome.event?.note ?? '', /services-of-a-team.*example\.com/);
  assert.deepEqual(stage.calls(), []);
});

test('a CA in trouble is waited for, and nothing is written', async () => {
  const stage = start({}, () => {
    throw new SignerError({ code: 'AUTHORITY_MISSING', disposition: 'authority', message: '' });
  });
  await assert.rejects(stage.handle(), { code: 'AUTHORITY_MISSING', disposition: 'authority' });
  assert.deepEqual(stage.calls(), []);
});

test('a write whose answer is lost is looked for, and not made twice', async () => {
  const stage = start();
  stage.server.troubles.push('lost');
  await assert.rejects(stage.handle());
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(
    stage.calls().map(([method]) => method),
    ['PUT', 'GET'],
  );
});

test('a write that did not arrive is made again with the same leaf', async () => {
  const stage = start();
  stage.server.troubles.push('unreachable');
  await assert.rejects(stage.handle());
  assert.equal((await stage.handle()).outcome, 'issued');
  const leaves = stage.sent().map(({ status }) => status?.certificate);
  assert.equal(leaves.length, 2);
  assert.equal(new Set(leaves).size, 1);
});
