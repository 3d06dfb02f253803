// SPDX-License-Identifier: Apache-2.0
/** Who removes which records, and what is left of them. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { discovery } from '#ledger/ledger/api/discovery.ts';
import { frontProxyOf } from '#ledger/ledger/api/front-proxy.ts';
import { createLedgerApi } from '#ledger/ledger/api/index.ts';
import { openSqlite, openStore, type LedgerStore } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import {
  appending,
  issuedRecord,
  naming,
  NOW,
  resultRecord,
} from '../../support/ledger/records.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

const root = mkdtempSync(join(tmpdir(), 'ledger-erasures-'));
const API = 'ledger.countersign.dev/v1alpha1';
const COMMON_NAME = 'front-proxy-client';
const { cert } = await tlsCertificate(COMMON_NAME);
const certificate = { commonName: COMMON_NAME, raw: new X509Certificate(cert).raw };
/** Minutes: twenty years, and namespaces stay as they are. */
const LIVING = 10_000_000;
const front = frontProxyOf({
  'requestheader-client-ca-file': cert,
  'requestheader-allowed-names': `["${COMMON_NAME}"]`,
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
});

const stores: LedgerStore[] = [];
after(async () => {
  await Promise.all(stores.map((each) => each.close()));
  rmSync(root, { recursive: true, force: true });
});

interface Answered {
  readonly status: number;
  readonly body: {
    readonly message?: string;
    readonly status?: { readonly removed: number; readonly record?: string };
  };
}

interface Stand {
  readonly store: LedgerStore;
  readonly erase: (spec: object, at?: string) => Promise<Answered>;
  readonly get: (path: string) => Promise<Answered>;
  readonly asked: () => readonly unknown[];
}

/**
 * Ten certificates, of which 0 to 4 have expired; `may`: verbs and resources that jane has, and
 * where.
 */
async function stand(name: string, may: (right: string) => boolean = () => true): Promise<Stand> {
  const store = await openStore(openSqlite(join(root, `${name}.db`)));
  stores.push(store);
  const records = Array.from({ length: 10 }, (_, n) =>
    appending(issuedRecord(n < 5 ? n : n + LIVING)),
  );
  await store.append([...records, appending(resultRecord(3))], { naming, now: NOW });
  const component = recordedComponent({ clock: () => Date.now() });
  const asked: unknown[] = [];
  component.client.answer(({ body }) => {
    const { spec } = body as { spec: { resourceAttributes: Record<string, string> } };
    const { verb = '', resource = '', namespace = '*' } = spec.resourceAttributes;
    asked.push(`${verb} ${resource} ${namespace}`);
    return { status: { allowed: may(`${verb} ${resource} ${namespace}`) } };
  });
  const api = createLedgerApi({
    component,
    store,
    front: { current: () => front },
    naming: () => naming,
    authenticate: () => Promise.resolve(undefined),
    namespace: 'countersign-system',
  });
  const headers = { 'x-remote-user': ['jane'] };
  const send = async (method: string, path: string, body?: string): Promise<Answered> => {
    const url = `/apis/${API}${path}`;
    const answer = await api({ method, url, headers, certificate, ...(body ? { body } : {}) });
    return { status: answer.status, body: JSON.parse(String(answer.body)) as Answered['body'] };
  };
  return {
    store,
    erase: (spec, at = '/erasures') =>
      send('POST', at, JSON.stringify({ apiVersion: API, kind: 'Erasure', spec })),
    get: (path) => send('GET', path),
    asked: () => asked,
  };
}

test('removes named records with their results, and records who did it', async () => {
  const { store, erase, get } = await stand('named');
  const { status, body } = await erase({ records: ['1-3', '1-2', '1-3'] });
  assert.deepEqual([status, body.status], [201, { removed: 3, record: '1-11' }]);
  const gone = await get('/records/1-3');
  assert.equal(gone.status, 410);
  assert.match(gone.body.message ?? '', /removed by an erasure at 2026-.*, see record 1-11/);
  assert.equal((await get('/records/1-4')).status, 200);
  const report = await store.verify([]);
  assert.deepEqual([report.findings, report.erased.person], [[], 3]);
  const [own] = await store.after(2 ** 40 + 10, 9);
  assert.match(Buffer.from(own?.body ?? '').toString(), /"by":"jane"/);
});

test('what was removed before is removed, and what was never there is not found', async () => {
  const { erase } = await stand('again');
  await erase({ records: ['1-1'] });
  const again = await erase({ records: ['1-1'] });
  assert.deepEqual([again.status, again.body.status], [201, { removed: 0 }]);
  for (const name of ['1-99', '2-0', 'x']) {
    assert.equal((await erase({ records: [name] })).status, 404, name);
  }
});

test('records of certificates that are valid are removed only where the spec says so', async () => {
  const { erase, store } = await stand('living');
  const refused = await erase({ records: ['1-1', '1-8'] });
  assert.equal(refused.status, 409);
  assert.match(refused.body.message ?? '', /^the certificates of 1-8 are still valid/);
  assert.equal((await store.verify([])).records, 11);
  assert.equal((await erase({ records: ['1-1', '1-8'], living: true })).status, 201);
});

test('a record of a removal stays', async () => {
  const { erase } = await stand('removal');
  await erase({ records: ['1-1'] });
  assert.equal((await erase({ records: ['1-11'] })).status, 409);
});

test('a dry run removes nothing', async () => {
  const { erase, store } = await stand('dry');
  const { body } = await erase({ records: ['1-1'] }, '/erasures?dryRun=All');
  assert.deepEqual([body.status, (await store.verify([])).records], [{ removed: 1 }, 11]);
});

test('readers cannot remove, and removers in a namespace remove nothing of another', async () => {
  const reader = await stand('reader', (right) => right.startsWith('get records'));
  assert.equal((await reader.erase({ records: ['1-1'] })).status, 403);
  const team = await stand('team', (right) => right === 'create erasures team-1');
  assert.equal((await team.erase({ records: ['1-1'] })).status, 403);
  const own = '/namespaces/team-1/erasures';
  assert.equal((await team.erase({ records: ['1-2'] }, own)).status, 404);
  assert.equal((await team.erase({ records: ['1-1'] }, own)).status, 201);
  assert.equal((await team.erase({ records: ['1-2'] }, '/namespaces/team-2/erasures')).status, 403);
  assert.deepEqual(team.asked(), [
    'create erasures *',
    'create erasures team-1',
    'create erasures team-2',
  ]);
});

const bodies: [law: string, spec: object][] = [
  ['no record', { records: [] }],
  ['too many records', { records: Array.from({ length: 501 }, (_, n) => `1-${n}`) }],
  ['what is no list', { records: '1-1' }],
  ['living that is no boolean', { records: ['1-1'], living: 'yes' }],
  ['an unknown member', { records: ['1-1'], all: true }],
];
for (const [law, spec] of bodies) {
  test(`nothing is removed by a spec with ${law}`, async () => {
    const { erase, store } = await stand(law.replaceAll(' ', '-'));
    assert.equal((await erase(spec)).status, 400);
    assert.equal((await store.verify([])).records, 11);
  });
}

test('records have no verb delete: the namespace controller removes all that has one', () => {
  const { resources } = JSON.parse(String(discovery(`/apis/${API}`)?.body)) as {
    resources: readonly { readonly verbs: readonly string[] }[];
  };
  const verbs = resources.flatMap((each) => each.verbs);
  assert.deepEqual(
    verbs.filter((verb) => verb.startsWith('delete')),
    [],
  );
});
