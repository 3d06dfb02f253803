// SPDX-License-Identifier: Apache-2.0
/**
 * The API of the ledger without an API server: whom it believes, what a search asks for, and where
 * a page goes on.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ApiRequest } from '#ledger/ledger/api/answer.ts';
import { callerOf, frontProxyOf } from '#ledger/ledger/api/front-proxy.ts';
import { createLedgerApi } from '#ledger/ledger/api/index.ts';
import { parseFieldSelector } from '#ledger/ledger/api/selector.ts';
import { openSqlite, openStore, type LedgerStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { appending, CA, issuedRecord, naming, NOW } from '../../support/ledger/records.ts';
import { resultRecord } from '../../support/ledger/records.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-api-'));
const RAW = '/apis/ledger.countersign.dev/v1alpha1';
const COMMON_NAME = 'front-proxy-client';
const { cert } = await tlsCertificate(COMMON_NAME);
const { cert: other } = await tlsCertificate(COMMON_NAME);
const published = {
  'requestheader-client-ca-file': cert,
  'requestheader-allowed-names': `["${COMMON_NAME}"]`,
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
};
const certificate = { commonName: COMMON_NAME, raw: new X509Certificate(cert).raw };
const headers = {
  'x-remote-user': ['jane'],
  'x-remote-group': ['dev', 'a,b'],
  'x-remote-extra-example.com%2fscopes': ['x'],
};

let store: LedgerStore;
before(async () => {
  store = await openStore(openSqlite(join(root, 'ledger.db')));
  const records = Array.from({ length: 30 }, (_, n) => appending(issuedRecord(n)));
  await store.append([...records, appending(resultRecord(3))], { naming, now: NOW });
});
after(async () => {
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

test('the API server is believed who asks, with groups and extra values', () => {
  const front = frontProxyOf(published);
  assert.deepEqual(callerOf(front, { headers, certificate }, Date.now()), {
    username: 'jane',
    groups: ['dev', 'a,b'],
    extra: { 'example.com/scopes': ['x'] },
  });
});

const strangers: [law: string, from: Parameters<typeof callerOf>][] = [
  ['without a certificate', [frontProxyOf(published), { headers }, Date.now()]],
  [
    'a certificate of another CA',
    [
      frontProxyOf({ ...published, 'requestheader-client-ca-file': other }),
      { headers, certificate },
      Date.now(),
    ],
  ],
  [
    'another name',
    [
      frontProxyOf({ ...published, 'requestheader-allowed-names': '["aggregator"]' }),
      { headers, certificate },
      Date.now(),
    ],
  ],
  [
    'a certificate that has expired',
    [frontProxyOf(published), { headers, certificate }, Date.now() + 2 * 3_600_000],
  ],
  ['no user', [frontProxyOf(published), { headers: {}, certificate }, Date.now()]],
  ['no published CA', [frontProxyOf({}), { headers, certificate }, Date.now()]],
];
for (const [law, from] of strangers) {
  test(`nobody is believed: ${law}`, () => assert.equal(callerOf(...from), undefined));
}

test('a field selector is read as kubectl writes it', () => {
  const asked = (text: string, namespace?: string): unknown =>
    parseFieldSelector(text, { now: NOW, ...(namespace === undefined ? {} : { namespace }) });
  const terms = (text: string, namespace?: string): unknown =>
    (asked(text, namespace) as { terms?: unknown }).terms;
  assert.deepEqual(terms('user=a\\,b\\=c\\\\d'), [{ kind: 'user', value: 'a,b=c\\d' }]);
  assert.deepEqual(terms('serial==00:5A:01'), [{ kind: 'serial', value: '5a01' }]);
  assert.deepEqual(terms(`ca=${CA}`), [{ kind: 'ca', value: CA }]);
  assert.deepEqual(terms('pod=web', 'team'), [
    { kind: 'namespace', value: 'team' },
    { kind: 'pod', value: 'team/web' },
  ]);
  const kinds = ['issued', 'approved', 'denied', 'failed', 'authority', 'gap', 'erased'];
  assert.deepEqual(asked('expiresIn=1d1h,since=30d'), {
    terms: [],
    kinds,
    expiresAfter: NOW,
    expiresBefore: NOW + 25 * 3_600_000,
    since: NOW - 30 * 86_400_000,
  });
  for (const [text, fault] of [
    ['name=x', /no field "name"; use serial/],
    // A name that every JavaScript object has.
    ['constructor=x', /no field "constructor"; use serial/],
    ['user!=x', /not <field>=<value>/],
    ['pod=web', /write <namespace>\/<name>/],
    ['serial=xyz', /not in hexadecimal/],
    ['since=yesterday', /write a time as/],
    ['kind=cake', /use one of issued/],
  ] as const) {
    assert.match((asked(text) as { fault?: string }).fault ?? '', fault);
  }
});

test('a selector has 20 distinct requirements at most, and repetitions are free', () => {
  const asked = (count: number, of: (n: number) => string): ReturnType<typeof parseFieldSelector> =>
    parseFieldSelector(Array.from({ length: count }, (_, n) => of(n)).join(','), { now: NOW });
  const names = (n: number): string => `san=host-${n}.example`;
  const most = asked(20, names);
  assert.ok('terms' in most && most.terms.length === 20);
  assert.deepEqual(asked(21, names), { fault: 'it has 21 requirements; use 20 at most' });
  const same = asked(500, () => 'signer=example.com/workload');
  assert.ok('terms' in same);
  assert.deepEqual(same.terms, [{ kind: 'signer', value: 'example.com/workload' }]);
});

interface Answered {
  readonly status: number;
  readonly body: {
    readonly items?: readonly { readonly metadata: { readonly name: string } }[];
    readonly metadata?: { readonly continue?: string };
    readonly message?: string;
    readonly results?: readonly { readonly outcome: string }[];
  };
}

/** As an API server that lets jane read everything, or `allowed` namespaces. */
function asking(allowed?: readonly string[]): (path: string) => Promise<Answered> {
  const component = recordedComponent({ clock: () => Date.now() });
  component.client.answer(({ body }) => {
    const { spec } = body as { spec: { resourceAttributes: { namespace?: string } } };
    const { namespace = '' } = spec.resourceAttributes;
    return { status: { allowed: allowed === undefined || allowed.includes(namespace) } };
  });
  const front = frontProxyOf(published);
  const api = createLedgerApi({
    component,
    store,
    front: { current: () => front },
    authenticate: () => Promise.resolve(undefined),
    namespace: 'countersign-system',
    naming: () => naming,
  });
  return async (path) => {
    const request: ApiRequest = { method: 'GET', url: `${RAW}${path}`, headers, certificate };
    const { status, body } = await api(request);
    return { status, body: JSON.parse(String(body)) as Answered['body'] };
  };
}

test('pages follow without a gap, and a token continues only its own search', async () => {
  const ask = asking();
  const names: string[] = [];
  let token = '';
  do {
    const { body } = await ask(`/records?limit=7&continue=${token}`);
    names.push(...(body.items ?? []).map(({ metadata }) => metadata.name));
    token = body.metadata?.continue ?? '';
  } while (token !== '');
  assert.deepEqual(
    names,
    Array.from({ length: 30 }, (_, n) => `1-${29 - n}`),
  );
  const first = await ask('/records?limit=7');
  const foreign = await ask(
    `/records?fieldSelector=user%3Djane&continue=${first.body.metadata?.continue ?? ''}`,
  );
  assert.deepEqual(
    [foreign.status, foreign.body.message],
    [400, 'the continue token is of another search; search again'],
  );
});

test('a record is shown with its result, in its namespace alone', async () => {
  const ask = asking(['team-3']);
  const found = await ask('/namespaces/team-3/records/1-3');
  assert.deepEqual(
    found.body.results?.map(({ outcome }) => outcome),
    ['delivered'],
  );
  assert.equal((await ask('/namespaces/team-3/records/1-4')).status, 404);
  assert.equal((await ask('/namespaces/team-4/records/1-4')).status, 403);
  assert.equal((await ask('/records/1-3')).status, 403);
  assert.equal((await ask('/records')).status, 403);
  assert.equal((await ask('/namespaces/team-3/records?watch=true')).status, 405);
});

test('a refused reader learns of the binding that grants the read at its scope', async () => {
  const ask = asking([]);
  for (const [path, advice] of [
    ['/records', /at the cluster scope; a ClusterRoleBinding to ClusterRole countersign-ledger-/],
    [
      '/namespaces/team-4/records',
      /in the namespace "team-4"; a RoleBinding in it to ClusterRole /,
    ],
  ] as const) {
    assert.match((await ask(path)).body.message ?? '', advice);
  }
});

/** What a token is worth, where the API server says that it is of this ServiceAccount. */
async function byToken(username: string, request: Partial<ApiRequest> = {}): Promise<number> {
  const component = recordedComponent({ clock: () => Date.now() });
  component.client.answer(() => ({ status: { allowed: true } }));
  const api = createLedgerApi({
    component,
    store,
    authenticate: (token) =>
      Promise.resolve(token === 'good' ? { username, groups: [], extra: {} } : undefined),
    namespace: 'countersign-system',
    naming: () => naming,
  });
  const authorization = ['Bearer good'];
  const asked = { method: 'GET', url: `${RAW}/records`, headers: { authorization }, ...request };
  return (await api(asked)).status;
}

test('only a component reads by its ledger token, and no token removes records', async () => {
  const component = 'system:serviceaccount:countersign-system:countersign-pcr-issuer';
  assert.equal(await byToken(component), 200);
  assert.equal(await byToken(component, { headers: { authorization: ['Bearer bad'] } }), 401);
  assert.equal(await byToken(component, { headers: { authorization: ['good'] } }), 401);
  const erasure = { method: 'POST', url: `${RAW}/erasures`, body: '{}' };
  assert.equal(await byToken(component, erasure), 401);
  for (const other of ['jane', 'system:serviceaccount:team-a:countersign-pcr-issuer'])
    assert.equal(await byToken(other), 401, other);
});

test('without aggregation, trusts no caller that claims to be the API server', async () => {
  assert.equal(await byToken('jane', { headers, certificate }), 401);
});
