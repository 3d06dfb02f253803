// SPDX-License-Identifier: Apache-2.0
/** One author, several kinds of requests. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { APPROVED, DENIED } from '../support/requests/certificate-request.ts';
import {
  CERTIFICATE_REQUEST,
  KINDS,
  SPEC,
  installCertManager,
  put,
  startWithCertManager,
} from './cert-manager-world.ts';
import { CSR, csrObject, issuerObject, startReady, startWorld, type World } from './world.ts';

let it: World;

beforeEach(async () => {
  it = await startWithCertManager();
});
afterEach(() => it.stop());

test('21. one Sign and one Check serve Kubernetes’ and cert-manager’s requests', async () => {
  await put(it);
  it.api.put(`${CSR}/a`, csrObject('a'));
  it.api.put(`${CSR}/b`, csrObject('b', [DENIED]));
  await it.settle();
  assert.deepEqual(
    it.author.signs.map(({ kind, signerName }) => [kind, signerName]),
    [
      ['CertificateRequest', 'testissuers.example.com/one'],
      ['CertificateSigningRequest', 'testissuers.example.com/one'],
    ],
  );
  assert.equal(it.author.checks.length, 2, 'one for each spec');
  assert.ok((it.api.get(`${CSR}/a`)?.status as { certificate?: string }).certificate);
  it.api.remove(CERTIFICATE_REQUEST);
  await put(it, { conditions: [APPROVED, DENIED] });
  assert.equal(it.author.signs.length, 2, 'neither of those that are denied');
});

test('does not sign an approved request that no rule allows, and an Event says why', async () => {
  await put(it, { dnsNames: ['www.example.com'] });
  assert.equal(it.author.signs.length, 0);
  assert.ok(it.component.notes.some(({ reason }) => reason === 'NoRuleMatched'));
});

test('Sign receives the requester and the required fields of the leaf', async () => {
  await put(it);
  const [request] = it.author.signs;
  assert.ok(request);
  assert.deepEqual(
    [request.namespace, request.name, request.requester?.username],
    ['team-a', 'web-1', 'system:serviceaccount:cert-manager:cert-manager'],
  );
  assert.deepEqual(request.template.dnsNames, ['web.team-a.svc']);
  assert.match(request.csr ?? '', /^-----BEGIN CERTIFICATE REQUEST/);
});

test('a namespaced issuer answers only requests of its namespace', async () => {
  await it.stop();
  const issuer = { group: 'example.com', version: 'v1', kind: 'TestIssuer', plural: 'testissuers' };
  it = await startWorld({ ...KINDS, issuer: { ...issuer, namespaced: true } });
  installCertManager(it.api);
  for (const namespace of ['team-a', 'team-b']) {
    const path = `/apis/example.com/v1/namespaces/${namespace}/testissuers/one`;
    it.api.put(path, issuerObject(SPEC, { namespace, uid: namespace }));
  }
  await it.time.advance(5_000);
  await put(it);
  assert.deepEqual(
    it.author.signs.map(({ signerName }) => signerName),
    ['testissuers.example.com/team-a.one'],
  );
});

test('without cert-manager its requests are not watched, and other kinds are answered', async () => {
  await it.stop();
  it = await startReady(KINDS);
  it.api.put(`${CSR}/a`, csrObject('a'));
  await it.settle();
  assert.equal(it.author.signs.length, 1);
});
