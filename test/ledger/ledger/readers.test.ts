// SPDX-License-Identifier: Apache-2.0
/**
 * Who asks the ledger without the aggregation layer: the author of a CertificateSigningRequest
 * whose key has signed.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LedgerClient, type LedgerEndpoint } from '#cli/ledger-client.ts';
import { ledgerFault } from '#cli/sources/ledger-records.ts';
import { createLedgerApi } from '#ledger/ledger/api/index.ts';
import { createReaders } from '#ledger/ledger/api/readers.ts';
import type { ApiRequest } from '#ledger/ledger/api/answer.ts';
import { isSignedBy, signRequest } from '#ledger/ledger/api/signed-request.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { queryText, type RequestInit } from '#kube/client/request.ts';
import { openSqlite, openStore, type LedgerStore } from '#ledger/index.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { createPublicKey } from 'node:crypto';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { appending, issuedRecord, naming, NOW } from '../../support/ledger/records.ts';

const RAW = '/apis/ledger.countersign.dev/v1alpha1';
const PROXY =
  /^\/api\/v1\/namespaces\/countersign-system\/services\/https:countersign-ledger-api:443\/proxy/;
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const JANE = { username: 'jane', uid: 'u-1', groups: ['dev'], extra: { scopes: ['x'] } };

const root = mkdtempSync(join(tmpdir(), 'ledger-readers-'));
let store: LedgerStore;
before(async () => {
  store = await openStore(openSqlite(join(root, 'ledger.db')));
  await store.append(
    [0, 1, 2].map((n) => appending(issuedRecord(n))),
    { naming, now: NOW },
  );
});
after(async () => {
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

/** Of an object that the API server has; changed by `more`. */
interface Csr {
  metadata: { name: string; uid: string; creationTimestamp: string };
  spec: Record<string, unknown>;
  status?: object;
}

/**
 * A cluster: its API server with CertificateSigningRequests, and the ledger behind services/proxy.
 */
class World {
  readonly requests = new Map<string, Csr>();
  readonly user: RecordedClient = recordedClient();
  readonly component = recordedComponent({ clock: () => this.now });
  /** What reached the ledger. */
  readonly reached: ApiRequest[] = [];
  /** What the user deleted, by its path. */
  readonly deleted: string[] = [];
  now = NOW;
  allowed = (_user: string, _namespace: string, _verb: string): boolean => true;
  readonly #api = createLedgerApi({
    component: this.component,
    store,
    authenticate: () => Promise.resolve(undefined),
    namespace: 'countersign-system',
    naming: () => naming,
  });

  constructor() {
    this.component.client.answer((request) => this.#ofLedger(request));
    this.user.answer((request) => this.#ofUser(request));
  }

  /** The API server, as the ledger asks it. */
  #ofLedger({ path, query, body }: RequestInit): unknown {
    if (path === REQUESTS) {
      const name = String(query?.['fieldSelector']).replace('metadata.name=', '');
      const found = this.requests.get(name);
      return { items: found === undefined ? [] : [found] };
    }
    const { spec } = body as {
      spec: { user: string; resourceAttributes: { namespace?: string; verb: string } };
    };
    const { namespace = '', verb } = spec.resourceAttributes;
    return { status: { allowed: this.allowed(spec.user, namespace, verb) } };
  }

  /**
   * The API server, as jane asks it: it writes down who she is, and passes on what is for the
   * Service.
   */
  async #ofUser(request: RequestInit): Promise<unknown> {
    if (request.path === REQUESTS) {
      const { spec } = request.body as { spec: Record<string, unknown> };
      const name = `ledger-reader-${this.requests.size}`;
      const metadata = { name, uid: `uid-of-${name}`, creationTimestamp: this.#at() };
      this.requests.set(name, { metadata, spec: { ...spec, ...JANE } });
      return this.requests.get(name);
    }
    if (request.method === 'DELETE') return this.deleted.push(request.path);
    assert.match(request.path, PROXY);
    const url = request.path.replace(PROXY, '') + queryText(request.query);
    const headers = Object.fromEntries(
      Object.entries(request.headers ?? {}).map(([name, value]) => [name, [value]]),
    );
    const body = request.body === undefined ? {} : { body: JSON.stringify(request.body) };
    return this.send({ method: request.method, url, headers, ...body });
  }

  async send(request: ApiRequest): Promise<unknown> {
    // Each pass begins with an unsigned request, which shows that there is a ledger.
    if (Object.keys(request.headers).length > 0) this.reached.push(request);
    const answer = await this.#api(request);
    const body = JSON.parse(String(answer.body)) as { message?: string };
    if (answer.status >= 300) throw new KubeError({ status: answer.status, what: 'GET', body });
    return body;
  }

  #at(): string {
    return new Date(this.now).toISOString();
  }

  ledger(more: Partial<LedgerEndpoint> = {}): LedgerClient {
    const place = { namespace: 'countersign-system', userAgent: 'test', ...more };
    return new LedgerClient(this.user, place);
  }
}

const list = (namespace?: string): RequestInit => ({
  method: 'GET',
  path: namespace === undefined ? `${RAW}/records` : `${RAW}/namespaces/${namespace}/records`,
  query: { fieldSelector: 'user=a\\,b', limit: 5 },
});

test('the ledger checks the rights of the person whom the API server names', async () => {
  const world = new World();
  const asked: string[] = [];
  world.allowed = (user, namespace, verb) => {
    asked.push(`${user} ${verb} in ${namespace}`);
    return namespace === 'team-1';
  };
  const ledger = world.ledger();
  await ledger.request(list('team-1'));
  await assert.rejects(ledger.request(list('team-2')), /403 Forbidden: .*User "jane" cannot get/);
  assert.deepEqual(asked, ['jane get in team-1', 'jane list in team-1', 'jane get in team-2']);
  // One object for all of it.
  assert.equal(world.requests.size, 1);
});

test('nothing by which somebody could act at the API server reaches the ledger', async () => {
  const world = new World();
  await world.ledger().request(list());
  const [request] = world.reached;
  assert.deepEqual(Object.keys(request?.headers ?? {}).sort(), [
    'countersign-reader',
    'countersign-signature',
  ]);
});

test('who guesses the name of an object, or changes what was signed, is nobody', async () => {
  const world = new World();
  await world.ledger().request(list('team-1'));
  const [request] = world.reached;
  assert.ok(request !== undefined);
  await world.send(request);
  const changes: readonly Partial<ApiRequest>[] = [
    { url: request.url.replace('team-1', 'team-2') },
    { url: `${request.url}&continue=x` },
    { method: 'POST' },
    { body: '{}' },
    { headers: { ...request.headers, 'countersign-signature': ['AAAA'] } },
    { headers: { ...request.headers, 'countersign-signature': undefined } },
    { headers: { ...request.headers, 'countersign-reader': ['ledger-reader-9'] } },
    { headers: { ...request.headers, 'countersign-reader': ['x,metadata.name!=y'] } },
    { headers: { 'x-remote-user': ['jane'] } },
  ];
  for (const change of changes)
    await assert.rejects(world.send({ ...request, ...change }), /401 Unauthorized/);
});

const useless: [law: string, change: (csr: Csr) => void][] = [
  ['of another signer name', ({ spec }) => (spec['signerName'] = 'example.com/workload')],
  ['that is ten minutes old', (csr) => (csr.metadata.creationTimestamp = at(-600_000))],
  ['of the future', (csr) => (csr.metadata.creationTimestamp = at(120_000))],
  ['without a time', (csr) => (csr.metadata.creationTimestamp = '')],
  ['that was denied', (csr) => (csr.status = DENIED)],
  ['without a user', ({ spec }) => (spec['username'] = '')],
  ['without a request', ({ spec }) => (spec['request'] = 'bm90aGluZw==')],
  ['made again under its name', (csr) => (csr.metadata.uid = 'another')],
];
const DENIED = { conditions: [{ type: 'Denied', status: 'True' }] };
const at = (milliseconds: number): string => new Date(NOW + milliseconds).toISOString();

for (const [law, change] of useless) {
  test(`nobody is believed by an object ${law}`, async () => {
    const world = new World();
    await world.ledger().request(list());
    const [request] = world.reached;
    for (const csr of world.requests.values()) change(csr);
    // What the ledger knew is read again after half a minute.
    const fresh = new World();
    for (const [name, csr] of world.requests) fresh.requests.set(name, csr);
    assert.ok(request !== undefined);
    await assert.rejects(fresh.send(request), /401 Unauthorized/);
  });
}

test('a person whose object is denied or deleted reads for half a minute at most', async () => {
  const world = new World();
  await world.ledger().request(list());
  const [request] = world.reached;
  assert.ok(request !== undefined);
  world.requests.clear();
  world.now += 29_000;
  await world.send(request);
  world.now += 2_000;
  await assert.rejects(world.send(request), /401 Unauthorized/);
});

test('with another object the client goes on, once', async () => {
  const world = new World();
  const ledger = world.ledger();
  await ledger.request(list());
  for (const csr of world.requests.values()) csr.status = DENIED;
  world.now += 31_000;
  await ledger.request(list());
  assert.equal(world.requests.size, 2);
});

test('unknown names cost the API server one call per ten seconds, and evict no reader', async () => {
  const component = recordedComponent({ clock: () => NOW });
  component.client.answer(() => ({ items: [] }));
  const readerOf = createReaders(component);
  const headers = { 'countersign-reader': ['x'], 'countersign-signature': ['AAAA'] };
  for (let n = 0; n < 5; n += 1) await readerOf({ method: 'GET', url: '/', headers });
  assert.equal(component.client.requests.length, 1);
});

test('16 unknown names are read at a time, and equal ones once', async () => {
  const component = recordedComponent({ clock: () => NOW });
  const ends: (() => void)[] = [];
  component.client.answer(async () => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return { items: [] };
  });
  const readerOf = createReaders(component);
  const asked = Array.from({ length: 60 }, (_, n) => {
    const headers = { 'countersign-reader': [`x-${n % 30}`], 'countersign-signature': ['AAAA'] };
    return readerOf({ method: 'GET', url: '/', headers });
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(component.client.requests.length, 16);
  for (; ends.length > 0; await new Promise((resolve) => setImmediate(resolve))) ends.shift()?.();
  await Promise.all(asked);
  assert.equal(component.client.requests.length, 30);
});

test('who may not create the object, or reach the Service, is told the role', async () => {
  const world = new World();
  world.user.answer(() => {
    const body = { message: 'certificatesigningrequests.certificates.k8s.io is forbidden' };
    throw new KubeError({ status: 403, what: 'POST', body });
  });
  await assert.rejects(world.ledger().request(list()), /ClusterRole countersign-ledger-client/);
});

test('an unsigned request shows that a ledger is there before an object is created', async () => {
  const world = new World();
  await world.ledger().request(list());
  const [first, second] = world.user.requests;
  assert.match(first?.path ?? '', PROXY);
  assert.deepEqual([first?.method, first?.headers], ['GET', undefined]);
  assert.equal(second?.method, 'POST');
});

for (const [law, status, message] of [
  ['without a ledger', 404, 'services "https:countersign-ledger-api:443" not found'],
  ['for a ledger that does not answer', 503, 'no endpoints available for service'],
  ['for a user who may not reach the Service', 403, 'services "x" is forbidden'],
] as const)
  test(`${law}, no object is created`, async () => {
    const world = new World();
    world.user.answer(() => {
      throw new KubeError({ status, what: 'GET', body: { message } });
    });
    await assert.rejects(world.ledger().request(list()), new RegExp(message));
    assert.deepEqual(
      world.user.requests.map(({ method }) => method),
      ['GET'],
    );
  });

test('a dry run creates no object, and reports that the ledger was not read', async () => {
  const world = new World();
  const ledger = world.ledger({ isDryRun: true });
  await assert.rejects(ledger.request(list()), (error) => ledgerFault(error) === 'unread');
  assert.equal(world.requests.size, 0);
});

test('the objects are deleted at the end, and who may not delete them sees no error', async () => {
  const world = new World();
  const ledger = world.ledger();
  await ledger.request(list());
  await ledger.close();
  await ledger.close();
  assert.deepEqual(world.deleted, [`${REQUESTS}/ledger-reader-0`]);
  const other = new World();
  const kept = other.ledger();
  await kept.request(list());
  other.user.answer(() => {
    throw new KubeError({ status: 403, what: 'DELETE' });
  });
  await kept.close();
});

test('a signature is of one object, method, path, query and body, by a key on P-256', async () => {
  const { key } = await generatePrivateKey('ECDSAP256');
  const { key: large } = await generatePrivateKey('ECDSAP384');
  const parts = { uid: 'u', method: 'GET', url: '/x?y', body: '' };
  const signature = signRequest(parts, key);
  assert.ok(isSignedBy(parts, createPublicKey(key), signature));
  for (const part of ['uid', 'method', 'url', 'body'])
    assert.ok(!isSignedBy({ ...parts, [part]: 'z' }, createPublicKey(key), signature), part);
  assert.ok(!isSignedBy(parts, createPublicKey(large), signRequest(parts, large)));
});

test('--ledger-url without TLS is refused', async () => {
  const { user } = new World();
  const place = { namespace: 'countersign-system', userAgent: 'test', url: 'http://127.0.0.1:1' };
  await assert.rejects(new LedgerClient(user, place).request(list()), /write https:\/\/host:port/);
});
