// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Order } from '#api/acme/order.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import type { CertManagerCertificate } from '#api/workload/certificate.ts';
import type { AcmeContext } from '#acme/acme/context.ts';
import { AccountTurns } from '#acme/acme/renewals/account-turns.ts';
import { NewestLeaves } from '#acme/acme/renewals/newest-leaves.ts';
import { RenewalCounts } from '#acme/acme/renewals/renewal-counts.ts';
import { reconcileRenewal } from '#acme/acme/renewals/renewal-work.ts';
import { createSessions } from '#acme/acme/signers/sessions.ts';
import { beginTerm } from '#acme/acme/store/leader-state.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import { tlsCertificate } from '../../../support/pki/tls-certificate.ts';
import { at, HOUR, order } from '../requests/build.ts';

const DAY = 24 * HOUR;
const { cert } = await tlsCertificate('a.example');
const [certificate] = readCertificates(cert);
assert.ok(certificate);
const ISSUED = { state: 'valid', certificate: cert } as const;

/** A CA that says of each certificate when it is renewed, and cert-manager's objects. */
function build(marks = true) {
  let now = Date.parse('2026-11-22T12:00:00Z');
  const component = recordedComponent({ name: 'acme', clock: () => now });
  const window = { start: now + 60 * DAY, end: now + 61 * DAY };
  const asked: string[] = [];
  const server = {
    resources: { renewalInfo: undefined },
    directory: () =>
      Promise.resolve({ kind: 'ok', value: { renewalInfo: 'https://ca.example/renewal' } }),
    get: ({ url }: { readonly url: string }) => {
      asked.push(url);
      const none = { kind: 'problem', status: 404, type: 'none', detail: '', subproblems: [] };
      const ok = { kind: 'ok', value: window, retryAfterMs: 6 * HOUR };
      return Promise.resolve(window.start < window.end ? ok : none);
    },
  };
  const sessions = createSessions();
  const session = { server, account: { account: 'https://ca.example/account' } };
  sessions.set('web', { kind: 'ready', session } as never);
  let current = order(1, { ...ISSUED, finalAt: at(now - DAY) });
  const objects = certManagerObjects();
  component.client.answer(({ method, path, body }) => {
    if (method !== 'GET') return body;
    return path.includes('certificaterequests') ? objects.request : objects.certificate;
  });
  const context = {
    component,
    sessions,
    signers: {
      get: () => ({
        kind: 'AcmeClusterSigner',
        metadata: { name: 'web' },
        spec: { acme: { renewalInfo: true } },
      }),
    },
    orders: {
      applyWrite: (written: Order) => {
        current = written;
      },
    },
  } as unknown as AcmeContext;
  const parts = {
    context,
    marks,
    term: beginTerm(now, 60),
    lookAt: new Map<string, number>(),
    turns: new AccountTurns(() => undefined),
    counts: new RenewalCounts(component.metrics),
  };
  assert.ok(certificate);
  const authorityKeyIdentifier = Buffer.from('key');
  const leaf = { ...certificate, notBefore: now, notAfter: now + 90 * DAY, authorityKeyIdentifier };
  return {
    component,
    asked,
    window,
    objects,
    order: () => current,
    at: (time: number) => {
      now = time;
    },
    run: (isReplaced = false) => reconcileRenewal(parts, { order: current, leaf, isReplaced }),
    marksOf: () => component.client.requests.filter(({ path }) => path.includes('/certificates/')),
    counted: () =>
      new Map(
        component.counted
          .filter(([name]) => name === 'renewals')
          .map(([, labels, count]) => [(labels as { state: string }).state, count]),
      ),
  };
}

function certManagerObjects(): {
  request: CertificateRequest;
  certificate: CertManagerCertificate;
} {
  const issuerRef = { group: 'acme.countersign.dev', kind: 'AcmeClusterSigner', name: 'web' };
  const metadata = { namespace: 'team-a', resourceVersion: '7', creationTimestamp: '' };
  const owner = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate', controller: true };
  return {
    request: {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: {
        ...metadata,
        name: 'web',
        uid: 'request-1',
        annotations: { 'cert-manager.io/certificate-revision': '3' },
        ownerReferences: [{ ...owner, name: 'shop', uid: 'certificate-1' }],
      },
      spec: { request: '', issuerRef },
    } as CertificateRequest,
    certificate: {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      metadata: { ...metadata, name: 'shop', uid: 'certificate-1' },
      spec: { secretName: 'shop', issuerRef },
      status: { revision: 3, conditions: [{ type: 'Ready', status: 'True' }] },
    },
  };
}

test('the window is in the status, asked for once in the time that the CA chose', async () => {
  const { run, order: now, asked, window, at: setTime, counted, component } = build();
  await run();
  const { windowStart, windowEnd, renewAt = '', checkAt = '' } = now().status.renewal ?? {};
  assert.deepEqual([windowStart, windowEnd], [at(window.start), at(window.end)]);
  assert.ok(Date.parse(renewAt) >= window.start && Date.parse(renewAt) <= window.end);
  assert.match(asked[0] ?? '', /\/renewal\/a2V5\.[\w-]+$/);
  await run();
  assert.equal(asked.length, 1);
  assert.equal(counted().get('waiting'), 1);
  assert.deepEqual(component.counted.at(-1), ['nextRenewal', {}, Date.parse(renewAt) / 1000]);
  setTime(Date.parse(checkAt));
  await run();
  assert.equal(asked.length, 2);
  // What else the status says stays.
  assert.equal(now().status.certificate, cert);
});

test('a window that is brought forward is told, and its Certificate is marked once', async () => {
  const { run, window, at: setTime, order: now, component, objects, marksOf } = build();
  await run();
  const begun = component.clock();
  Object.assign(window, { start: begun - DAY, end: begun - HOUR });
  setTime(begun + 7 * HOUR);
  await run();
  const told = component.notes.map(({ type, reason }) => `${type} ${reason}`);
  assert.deepEqual(told, ['Normal RenewalMoved', 'Normal CertificateMarked']);
  const [, put] = marksOf();
  assert.ok(put);
  assert.equal(put.path, '/apis/cert-manager.io/v1/namespaces/team-a/certificates/shop/status');
  const written = put.body as CertManagerCertificate;
  const [ready, issuing] = written.status?.conditions ?? [];
  assert.deepEqual(ready, { type: 'Ready', status: 'True' });
  assert.deepEqual(
    [issuing?.type, issuing?.status, issuing?.reason],
    ['Issuing', 'True', 'RenewalInfo'],
  );
  assert.equal(now().status.renewal?.markedAt, at(begun + 7 * HOUR));
  await run();
  assert.equal(marksOf().length, 2);
  // An hour later cert-manager is still at it.
  objects.certificate = written;
  setTime(begun + 9 * HOUR);
  await run();
  assert.equal(marksOf().filter(({ method }) => method === 'PUT').length, 1);
});

test('a due certificate whose mark is rejected says so and is not always retried', async () => {
  const { run, window, component, marksOf, order: now, objects } = build();
  Object.assign(window, { start: component.clock() - DAY, end: component.clock() - HOUR });
  component.client.answer(({ method, path, body }) => {
    if (method === 'GET') return path.includes('requests') ? objects.request : objects.certificate;
    if (!path.includes('/certificates/')) return body;
    throw new KubeError({ code: 'KUBE_FORBIDDEN', message: 'no', status: 403 } as never);
  });
  await run();
  assert.equal(now().status.renewal?.reason, 'MarkRefused');
  assert.deepEqual(
    component.notes.map(({ type }) => type),
    ['Warning'],
  );
  await run();
  assert.equal(marksOf().length, 2);
});

for (const [what, change] of [
  ['its Secret has another revision', { status: { revision: 4 } }],
  ['it is another one of this name', { metadata: { uid: 'certificate-2' } }],
  [
    'it names another issuer',
    {
      spec: { issuerRef: { group: 'acme.countersign.dev', kind: 'AcmeClusterSigner', name: 'x' } },
    },
  ],
  ['it failed a moment ago', { status: { revision: 3, lastFailureTime: at(Date.now() + DAY) } }],
] as const) {
  test(`a Certificate is not marked where ${what}`, async () => {
    const { run, window, component, objects, marksOf } = build();
    Object.assign(window, { start: component.clock() - DAY, end: component.clock() - HOUR });
    const { certificate: before } = objects;
    objects.certificate = { ...before, ...change } as CertManagerCertificate;
    if ('metadata' in change)
      objects.certificate = { ...before, metadata: { ...before.metadata, ...change.metadata } };
    await run();
    assert.deepEqual(
      marksOf().map(({ method }) => method),
      ['GET'],
    );
    assert.deepEqual(
      component.notes.map(({ reason }) => reason),
      ['RenewalDue'],
    );
  });
}

test('without the right or a window no Certificate is even read', async () => {
  const without = build(false);
  const { window, component } = without;
  Object.assign(window, { start: component.clock() - DAY, end: component.clock() - HOUR });
  await without.run();
  assert.deepEqual(
    without.component.notes.map(({ reason }) => reason),
    ['RenewalDue'],
  );
  assert.equal(without.marksOf().length, 0);
  const bad = build();
  bad.window.end = bad.window.start - 1;
  await bad.run();
  bad.at(bad.component.clock() + 89 * DAY);
  await bad.run();
  assert.equal(bad.marksOf().length, 0);
});

test('a certificate that was replaced is asked for no more, and counts no more', async () => {
  const { run, asked, counted } = build();
  await run();
  assert.equal(await run(true), undefined);
  assert.equal(asked.length, 1);
  assert.equal(counted().get('waiting'), 0);
});

test('due and overdue are counted', async () => {
  const { run, window, component, at: setTime, counted } = build(false);
  const begun = component.clock();
  Object.assign(window, { start: begun - DAY, end: begun });
  setTime(begun + 1000);
  await run();
  assert.deepEqual(Object.fromEntries(counted()), { waiting: 0, due: 1, overdue: 0 });
  setTime(begun + 2 * DAY);
  await run();
  assert.deepEqual(Object.fromEntries(counted()), { waiting: 0, due: 0, overdue: 1 });
});

test('each requester’s newest certificate is in use, and requesters are separate', () => {
  const newest = new NewestLeaves();
  const of = (attempt: number, name?: string): Order => {
    const made = order(attempt, ISSUED);
    const annotations = name === undefined ? {} : { 'cert-manager.io/certificate-name': name };
    return { ...made, metadata: { ...made.metadata, annotations } };
  };
  const [first, second, other] = [of(1, 'shop'), of(2, 'shop'), of(3, 'blog')];
  assert.deepEqual(newest.observe('team-a/web-1', first, undefined), ['team-a/web-1']);
  assert.deepEqual(newest.observe('team-a/web-3', other, undefined), ['team-a/web-3']);
  assert.equal(newest.isReplaced(first), false);
  const concerned = newest.observe('team-a/web-2', second, undefined);
  assert.deepEqual([...concerned].sort(), ['team-a/web-1', 'team-a/web-2']);
  assert.deepEqual(
    [first, second, other].map((each) => newest.isReplaced(each)),
    [true, false, false],
  );
  // A user may change the annotation.
  const moved = of(2, 'blog');
  assert.deepEqual([...newest.observe('team-a/web-2', moved, second)].sort(), [
    'team-a/web-1',
    'team-a/web-2',
    'team-a/web-3',
  ]);
  assert.deepEqual(
    [first, moved, other].map((each) => newest.isReplaced(each)),
    [false, true, false],
  );
  newest.observe('team-a/web-2', second, moved);
  newest.observe('team-a/web-2', undefined, second);
  assert.equal(newest.isReplaced(first), false);
});
