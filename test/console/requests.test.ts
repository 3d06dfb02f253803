// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  keptRequest,
  requestPage,
  requestRow,
  REQUESTS_A_PAGE,
  rowKey,
  withDelta,
  type RowKind,
  type RequestRow,
} from '#console/pages/requests.ts';

const AT = '2026-01-01T00:00:00Z';

function row(name: string, more: Partial<RequestRow> = {}): RequestRow {
  const base = { subject: `csr/${name}`, signerName: 'example.com/a', requester: 'user a' };
  return { ...base, createdAt: AT, state: 'approval', note: '', ...more };
}

function judged(kind: RowKind, status: object): RequestRow {
  const metadata = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: AT };
  const spec = { signerName: 'example.com/a', username: 'alice' };
  return requestRow(kind, keptRequest({ apiVersion: 'v1', kind, metadata, spec, status }));
}

const condition = (type: string, message = ''): object => ({
  type,
  status: 'True',
  reason: 'Why',
  message,
});

const STATES: readonly [RowKind, object, RequestRow['state']][] = [
  ['csr', {}, 'approval'],
  ['csr', { conditions: [condition('Approved')] }, 'component'],
  ['csr', { conditions: [condition('Approved')], certificate: 'PEM' }, 'issued'],
  ['csr', { conditions: [condition('Denied')] }, 'denied'],
  ['csr', { conditions: [condition('Approved'), condition('Failed')] }, 'failed'],
  ['pcr', {}, 'component'],
  ['pcr', { certificateChain: 'PEM' }, 'issued'],
  ['certificaterequest', {}, 'approval'],
  [
    'certificaterequest',
    { conditions: [{ type: 'Ready', status: 'False', reason: 'Failed' }] },
    'failed',
  ],
];

for (const [kind, status, state] of STATES)
  test(`${kind} with ${JSON.stringify(status)} is ${state}`, () => {
    assert.equal(judged(kind, status).state, state);
  });

test('a CertificateRequest without a spec, which its definition allows, has a row', () => {
  const metadata = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: AT };
  const kept = keptRequest({ apiVersion: 'v1', kind: 'CertificateRequest', metadata });
  const { state, requester } = requestRow('certificaterequest', kept);
  assert.deepEqual([state, requester], ['approval', 'user ']);
});

test('keeps no PEM in memory, and the reason of a denial', () => {
  const metadata = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: AT };
  const spec = { signerName: 'a/b', request: 'PEM', extra: { token: ['x'] } };
  const status = { certificate: 'PEM', conditions: [] };
  const kept = keptRequest({ apiVersion: 'v1', kind: 'x', metadata, spec, status });
  assert.doesNotMatch(JSON.stringify(kept), /PEM|token/);
  assert.equal(
    judged('csr', { conditions: [condition('Denied', 'no rule')] }).note,
    'Why: no rule',
  );
});

test('a page has at most 50 rows, newest first, and the number of all', () => {
  const all = Array.from({ length: 120 }, (_, index) =>
    row(`r${index}`, { createdAt: `2026-01-01T00:00:${String(index % 60).padStart(2, '0')}Z` }),
  );
  const page = requestPage(all, { from: 50 });
  assert.equal(page.rows.length, REQUESTS_A_PAGE);
  assert.equal(page.total, 120);
  assert.ok((page.rows[0]?.createdAt ?? '') >= (page.rows.at(-1)?.createdAt ?? ''));
});

test('a filter selects by state, signer and namespace', () => {
  const all = [
    row('a'),
    row('b', { state: 'component', namespace: 'n' }),
    row('c', { state: 'issued', signerName: 'other/a' }),
  ];
  const names = (filter: object): readonly string[] =>
    requestPage(all, { from: 0, ...filter }).rows.map(({ subject }) => subject);
  assert.deepEqual(names({ state: 'waiting' }), ['csr/a', 'csr/b']);
  assert.deepEqual(names({ namespace: 'n' }), ['csr/b']);
  assert.deepEqual(names({ signer: 'other/a' }), ['csr/c']);
});

test('a delta puts rows into their place, replaces them, and never grows the page', () => {
  const page = requestPage([row('a'), row('b')], { from: 0 });
  const put = [row('a', { state: 'issued' }), row('c', { createdAt: '2026-01-02T00:00:00Z' })];
  const next = withDelta(page, { put, total: 3 });
  assert.deepEqual(
    next.rows.map(({ subject, state }) => `${subject} ${state}`),
    ['csr/c approval', 'csr/a issued', 'csr/b approval'],
  );
  const many = Array.from({ length: 80 }, (_, index) => row(`m${index}`));
  assert.equal(withDelta(next, { put: many, total: 83 }).rows.length, REQUESTS_A_PAGE);
});

test('requests of one name in two namespaces are two rows', () => {
  assert.notEqual(rowKey(row('a', { namespace: 'x' })), rowKey(row('a', { namespace: 'y' })));
});
