// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REVOKE_ANNOTATION } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import { reconcileRevocation } from '#acme/acme/orders/issued-work.ts';
import type { AcmeContext } from '#acme/acme/context.ts';
import { createSessions } from '#acme/acme/signers/sessions.ts';
import { beginTerm } from '#acme/acme/store/leader-state.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { tlsCertificate } from '../../../support/pki/tls-certificate.ts';
import { HOUR, order } from '../requests/build.ts';

const { cert } = await tlsCertificate('a.example');
const [certificate] = readCertificates(cert);
const DONE = { kind: 'ok', value: null };
const ALREADY = {
  kind: 'problem',
  status: 400,
  type: 'alreadyRevoked',
  detail: '',
  subproblems: [],
};

/** A ready signer whose server gives these answers, and an Order that is to be revoked. */
function build(answers: readonly object[], isReady = true) {
  const component = recordedComponent({ name: 'acme' });
  const { clock } = component;
  const asked: unknown[] = [];
  const left = [...answers];
  const server = {
    directory: () =>
      Promise.resolve({ kind: 'ok', value: { revokeCert: 'https://ca.example/revoke' } }),
    post: (_caller: unknown, target: { readonly payload: unknown }) => {
      asked.push(target.payload);
      return Promise.resolve(left.shift());
    },
  };
  const sessions = createSessions();
  const session = { server, account: { account: 'https://ca.example/account' } };
  if (isReady) sessions.set('web', { kind: 'ready', session } as never);
  let current = order(1, { state: 'valid', certificate: cert });
  current = {
    ...current,
    metadata: { ...current.metadata, annotations: { [REVOKE_ANNOTATION]: 'superseded' } },
  };
  const context = {
    component,
    sessions,
    signers: { get: () => ({ kind: 'AcmeClusterSigner', metadata: { name: 'web' } }) },
    orders: {
      applyWrite: (written: Order) => {
        current = written;
      },
    },
  } as unknown as AcmeContext;
  const term = beginTerm(clock(), 60);
  assert.ok(certificate);
  const leaf = { ...certificate, notAfter: clock() + HOUR };
  const revoke = () => reconcileRevocation({ context, term, order: current, leaf });
  return { component, asked, term, revoke, order: () => current };
}

test('a revocation whose status could not be written is asked for again, and done once', async () => {
  const { component, asked, revoke, order: now } = build([DONE, ALREADY]);
  component.client.answer(() => {
    throw new Error('the answer was lost');
  });
  await assert.rejects(revoke(), /lost/);
  assert.equal(now().status.revocation, undefined);
  component.client.answer(({ body }) => body);
  await revoke();
  const payload = {
    certificate: Buffer.from(certificate?.raw ?? []).toString('base64url'),
    reason: 4,
  };
  assert.deepEqual(asked, [payload, payload]);
  assert.equal(now().status.revocation?.state, 'revoked');
  // What else the status says stays.
  assert.equal(now().status.certificate, cert);
  await revoke();
  assert.equal(asked.length, 2);
  const told = component.notes.map(({ type, reason }) => [type, reason]);
  assert.deepEqual(told, [['Normal', 'Revoked']]);
});

test('a limit of the CA holds the revocation, and no other call of the account', async () => {
  const limit = { ...ALREADY, status: 429, type: 'rateLimited', retryAfterMs: HOUR / 2 };
  const { component, term, revoke, order: now } = build([limit]);
  component.client.answer(({ body }) => body);
  const again = await revoke();
  assert.deepEqual(again, { requeueAt: component.clock() + HOUR / 2 });
  assert.equal(now().status.revocation?.reason, 'RateLimited');
  assert.equal(now().status.reason, undefined);
  assert.equal(term.gate.until('https://ca.example/account', component.clock()), undefined);
});

test('a signer that is not ready is told in the status, and nothing is called', async () => {
  const { component, asked, revoke, order: now } = build([], false);
  component.client.answer(({ body }) => body);
  assert.equal(await revoke(), undefined);
  assert.deepEqual(asked, []);
  const { state, reason } = now().status.revocation ?? {};
  assert.deepEqual([state, reason], ['pending', 'SignerNotReady']);
  await revoke();
  assert.equal(component.client.requests.length, 1);
});
