// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { Condition } from '#api/request/conditions.ts';
import { orderedIssuing, type OrderedRequest } from '#acme/acme/requests/issue.ts';
import { createOrdersOfRequests, requestKeyOf } from '#acme/acme/requests/orders-of-requests.ts';
import { createSignerHolds, type SignerHolds } from '#acme/acme/requests/signer-holds.ts';
import { copyRequestedNames } from '#ca/issuance/leaf-subject.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { encodePem } from '#pki/der/pem.ts';
import type { IssuedChain, NotIssued } from '#requests/issuing/issuing-ca.ts';
import { REQUEST_FIELDS } from '#base/vocabulary.ts';
import { made, type Wanted } from '../../../ca/policy/request.ts';
import { recordedComponent } from '../../../support/component/recorded-component.ts';
import {
  ca,
  keyIds,
  link,
  NOW as CHAIN_NOW,
  purposes,
  san,
  usage,
} from '../../../support/pki/chain.ts';
import { privateKey } from '../../../support/pki/keys.ts';
import { at, HOUR, SIGNER } from './build.ts';

const KEY = privateKey('P-256', 'leaf');
const WANTED: Wanted = { subject: [], dnsNames: ['a.example'], key: KEY };
const ORDERS_OF_TEAM_A = '/apis/acme.countersign.dev/v1alpha1/namespaces/team-a/orders';

/**
 * A CA, and a request of team-a for a.example with an API server that has the Orders that were
 * made.
 */
function stage(
  init: {
    readonly signer?: AcmeSigner;
    readonly metadata?: object;
    readonly holds?: SignerHolds;
  } = {},
) {
  let now = CHAIN_NOW;
  const component = recordedComponent({ clock: () => now });
  const orders = createOrdersOfRequests();
  const { holds = createSignerHolds() } = init;
  const taken = new Set<string>();
  component.client.answer((request) => answer(request, taken));
  const { csr, request } = made(WANTED);
  const object: OrderedRequest = {
    ...csr,
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: { ...csr.metadata, namespace: 'team-a', name: 'web', uid: 'r1', ...init.metadata },
  };
  const kind =
    object.metadata.namespace === undefined ? 'CertificateSigningRequest' : 'CertificateRequest';
  const issuing = orderedIssuing(
    {
      component,
      orders,
      holds,
      kind,
      namespace: 'countersign-system',
      onCreated: (order) => {
        orders.observe(order, undefined);
      },
    },
    init.signer ?? SIGNER,
  );
  const template = {
    subject: copyRequestedNames(request, REQUEST_FIELDS),
    publicKey: request.publicKey,
    usages: [],
    validity: { notBefore: 0, notAfter: 1 },
  };
  return {
    orders,
    component,
    taken,
    issue: (): Promise<IssuedChain | NotIssued> => issuing.issue(template, object),
    later: (milliseconds: number) => {
      now += milliseconds;
    },
    now: () => now,
    calls: () => component.client.requests.map(({ method, path }) => `${method} ${path}`),
    bodies: () => component.client.requests.filter(({ method }) => method === 'POST').map(bodyOf),
  };
}

function bodyOf({ body }: RequestInit): Order {
  return body as Order;
}

function answer(request: RequestInit, taken: Set<string>): KubeObject {
  const what = `${request.method} ${request.path}`;
  if (request.method !== 'POST') return bodyOf(request);
  const body = bodyOf(request);
  if (taken.has(body.metadata.name))
    throw new KubeError({ status: 409, what, body: { reason: 'AlreadyExists' } });
  taken.add(body.metadata.name);
  const filled = { uid: `uid of ${body.metadata.name}`, resourceVersion: '1' };
  const metadata = { ...body.metadata, ...filled, creationTimestamp: at(CHAIN_NOW) };
  return { ...body, metadata };
}

/** The Order as its controller leaves it. */
function ended(order: Order | undefined, status: Order['status']): Order {
  assert.ok(order !== undefined);
  return readOrder({ ...order, status });
}

const root = link('root', { extensions: [ca(), usage(), ...keyIds('root')] });
const issuer = link('issuing', {
  by: root,
  extensions: [ca(0), usage(), ...keyIds('issuing', 'root')],
});

/** What a public CA certifies for. */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

function chainFor(name: string, key = KEY): string {
  const extensions = [san([2, name]), purposes(SERVER_AUTH), ...keyIds('leaf', 'issuing')];
  const leaf = link('a.example', { by: issuer, key, extensions });
  return [leaf, issuer].map((each) => encodePem('CERTIFICATE', each.certificate.raw)).join('');
}

test('one Order is made in the request’s namespace, owned by it, and never a second', async () => {
  const { issue, bodies, calls } = stage();
  const [first, second] = [await issue(), await issue()];
  assert.deepEqual([first.kind, second.kind], ['notIssued', 'notIssued']);
  assert.deepEqual(calls(), [`POST ${ORDERS_OF_TEAM_A}`]);
  const [order] = bodies();
  assert.equal(order?.metadata.name, 'web-1');
  assert.deepEqual((order.metadata as { ownerReferences?: unknown }).ownerReferences, [
    {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      name: 'web',
      uid: 'r1',
      controller: true,
    },
  ]);
  assert.deepEqual(order.spec.requestRef, { kind: 'CertificateRequest', name: 'web', uid: 'r1' });
  assert.deepEqual(order.spec.identifiers, [{ type: 'dns', value: 'a.example' }]);
  assert.deepEqual([order.spec.attempt, order.spec.renewal], [1, false]);
});

test('an Order has the labels of its request: solvers are chosen by them', async () => {
  const labels = { tier: 'edge', 'example.com/team': 'a' };
  const { issue, bodies } = stage({ metadata: { labels } });
  await issue();
  assert.deepEqual(bodies()[0]?.metadata.labels, labels);
});

test('the Order of a CertificateSigningRequest is the installation’s, and has no owner', async () => {
  const { issue, bodies, calls } = stage({ metadata: { namespace: undefined } });
  await issue();
  assert.deepEqual(calls(), [
    'POST /apis/acme.countersign.dev/v1alpha1/namespaces/countersign-system/orders',
  ]);
  assert.ok(!('ownerReferences' in (bodies()[0]?.metadata ?? {})));
});

test('no Order is made for a signer that is unready or ready for an older spec', async () => {
  const conditions = (condition: object): AcmeSigner => ({
    ...SIGNER,
    status: { conditions: [{ type: 'Ready', ...condition } as Condition] },
  });
  const refused = conditions({ status: 'False', reason: 'TermsNotAgreed', observedGeneration: 1 });
  const older = conditions({ status: 'True', reason: 'AccountReady', observedGeneration: 0 });
  const says = [
    [refused, 'AcmeClusterSigner web is not ready: TermsNotAgreed'],
    [older, 'AcmeClusterSigner web is not ready yet'],
  ] as const;
  for (const [signer, message] of says) {
    const { issue, calls } = stage({ signer });
    assert.deepEqual(await issue(), { kind: 'notIssued', how: 'issuer', message });
    assert.deepEqual(calls(), []);
  }
});

test('an Order that another replica made is waited for', async () => {
  const { issue, taken } = stage();
  taken.add('web-1');
  const held = await issue();
  assert.ok(held.kind === 'notIssued' && held.how === 'pending', JSON.stringify(held));
});

test('an Issued Order’s chain is delivered with its leaf’s validity', async () => {
  const { issue, orders } = stage();
  await issue();
  const [order] = orders.of('r1');
  const certificate = chainFor('a.example');
  orders.observe(ended(order, { state: 'valid', certificate }), order);
  const issued = await issue();
  assert.ok(issued.kind === 'chain' && issued.chain === certificate && issued.anchors === '');
  assert.ok(issued.validity.notAfter > CHAIN_NOW);
});

test('a chain for another name or key in the Order is not delivered', async () => {
  for (const certificate of [
    chainFor('b.example'),
    chainFor('a.example', privateKey('P-256', 'other')),
    'no PEM',
  ]) {
    const { issue, orders, now } = stage();
    await issue();
    const [order] = orders.of('r1');
    orders.observe(ended(order, { state: 'valid', certificate, finalAt: at(now()) }), order);
    const held = await issue();
    assert.ok(held.kind === 'notIssued' && held.how === 'pending', JSON.stringify(held));
  }
});

test('after an Order that came to nothing another one is made, with the next number', async () => {
  const { issue, orders, later, now, bodies } = stage();
  await issue();
  const [order] = orders.of('r1');
  orders.observe(ended(order, { state: 'invalid', finalAt: at(now()) }), order);
  assert.equal((await issue()).kind, 'notIssued');
  assert.equal(bodies().length, 1);
  later(HOUR);
  await issue();
  assert.deepEqual(
    bodies().map(({ metadata, spec }) => [metadata.name, spec.attempt]),
    [
      ['web-1', 1],
      ['web-2', 2],
    ],
  );
});

test('a deleted Order is followed by another one at once, with a name of its own', async () => {
  const { issue, orders, now, bodies } = stage();
  await issue();
  const [order] = orders.of('r1');
  const lost = ended(order, { state: 'invalid', finalAt: at(now()) });
  orders.observe(lost, order);
  orders.observe(undefined, lost);
  await issue();
  assert.deepEqual(
    bodies().map(({ metadata }) => metadata.name),
    ['web-1', 'web-2'],
  );
  await issue();
  assert.equal(bodies().length, 2, 'the wish for another one counts once');
});

test('of the requests of a held signer, one tries the CA again', async () => {
  const holds = createSignerHolds();
  const first = stage({ holds });
  await first.issue();
  const [order] = first.orders.of('r1');
  const status = { state: 'invalid', reason: 'CaUnusable', message: 'the CA returned x' } as const;
  holds.observe(ended(order, { ...status, finalAt: at(CHAIN_NOW) }), order);
  const second = stage({ holds, metadata: { uid: 'r2', name: 'second' } });
  const third = stage({ holds, metadata: { uid: 'r3', name: 'third' } });
  const held = await second.issue();
  assert.ok(held.kind === 'notIssued' && held.how === 'pending' && held.afterMs === HOUR);
  assert.match(
    held.message,
    /^for a request of this signer, the CA returned x: no request of the signer gets an Order /,
  );
  second.later(HOUR);
  third.later(HOUR);
  await Promise.all([second.issue(), third.issue()]);
  assert.deepEqual([second.bodies().length, third.bodies().length], [1, 0]);
});

test('a renewal says so, and names the certificate that it replaces once', async () => {
  const { issue, orders, bodies } = stage();
  const certificate = chainFor('a.example');
  const { component: _, ...before } = stage({ metadata: { uid: 'r0', name: 'old' } });
  await before.issue();
  const [old] = before.orders.of('r0');
  orders.observe(ended(old, { state: 'valid', certificate }), undefined);
  await issue();
  const [order] = bodies();
  assert.equal(order?.spec.renewal, true);
  assert.match(order.spec.replaces ?? '', /^[\w-]+\.[\w-]+$/);
  const [live] = orders.of('r1');
  const again = stage({ metadata: { uid: 'r2', name: 'third' } });
  again.orders.observe(ended(old, { state: 'valid', certificate }), undefined);
  again.orders.observe(live, undefined);
  await again.issue();
  assert.deepEqual(
    again.bodies().map(({ spec }) => [spec.renewal, spec.replaces]),
    [[true, undefined]],
  );
});

test('who waits for an Order is told when it ends or is deleted, and of nothing else', async () => {
  const { issue, orders } = stage();
  const told: string[] = [];
  orders.onEnd((order) => told.push(requestKeyOf(order)));
  await issue();
  const [order] = orders.of('r1');
  const ready = ended(order, { state: 'ready', url: 'https://acme.example/o' });
  orders.observe(ready, order);
  assert.deepEqual(told, []);
  const done = ended(order, { state: 'valid', certificate: 'pem' });
  orders.observe(done, ready);
  orders.observe(ended(order, { state: 'valid', certificate: 'pem', renewal: {} }), done);
  assert.deepEqual(told, ['team-a/web']);
  orders.observe(undefined, done);
  assert.deepEqual(told, ['team-a/web', 'team-a/web']);
});

test('an Order’s name fits where the request’s name has all 253 characters', async () => {
  const { issue, bodies } = stage({ metadata: { name: 'w'.repeat(253) } });
  await issue();
  const name = bodies()[0]?.metadata.name ?? '';
  assert.ok(name.length <= 253 && /^w{200,}-[0-9a-f]{10}-1$/.test(name), name);
});

// ValidateCertificateRequestName of pkg/apis/certificates/validation takes any name.
for (const name of ['Jane:web', 'web_1', 'web.', 'w'.repeat(254)]) {
  test(`a request named ${name.slice(0, 8)}, which no Order can name, fails at once`, async () => {
    const { issue, calls } = stage({ metadata: { namespace: undefined, name } });
    const got = await issue();
    assert.ok(got.kind === 'notIssued' && got.how === 'permanent');
    assert.match(got.message, /whose name is a DNS subdomain/);
    assert.deepEqual(calls(), []);
  });
}
