// SPDX-License-Identifier: Apache-2.0
/** What is read that others may have written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCursors, type Cursor } from '#notify/notifier/cursor.ts';
import { seenRequest } from '#notify/notifier/events/seen-request.ts';
import type { Component } from '#component/contract.ts';

test('a cursor that somebody else wrote is none, or what of it is one', async () => {
  const cursor = { versions: { podcertificaterequests: '7' }, due: 1, expiring: 2, told: ['a'] };
  const whole = JSON.stringify(cursor);
  const found = await readCursorsOf({
    'target.whole': whole,
    'target.more': JSON.stringify({
      ...cursor,
      versions: { ...cursor.versions, pods: '9', __proto__: '1' },
      told: ['a', 1, null, { b: 'c' }],
      other: 'x'.repeat(1000),
    }),
    'target.text': 'no JSON',
    'target.null': 'null',
    'target.list': '[]',
    'target.versions': JSON.stringify({ ...cursor, versions: null }),
    'target.negative': JSON.stringify({ ...cursor, versions: { podcertificaterequests: '-1' } }),
    'target.number': JSON.stringify({ ...cursor, versions: { podcertificaterequests: 7 } }),
    'target.told': JSON.stringify({ ...cursor, told: 'a' }),
    'target.due': whole.replace('"due":1', '"due":"1"'),
    unknown: whole,
  });
  assert.deepEqual(
    [...found],
    [
      ['whole', cursor],
      ['more', cursor],
    ],
  );
});

async function readCursorsOf(
  data: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Cursor>> {
  const client = { request: () => Promise.resolve({ metadata: { uid: 'u' }, data }) };
  const { cursors } = await readCursors({ client: client as unknown as Component['client'] }, 'a');
  return cursors;
}

test('a CertificateRequest of an ACME issuer is its signer’s; of another group, none’s', () => {
  const of = (issuerRef: object | undefined): string =>
    seenRequest('certificaterequests', {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: {
        name: 'r',
        namespace: 'team',
        uid: 'u',
        resourceVersion: '1',
        creationTimestamp: '',
      },
      ...(issuerRef === undefined ? {} : { spec: { issuerRef, request: '' } }),
    }).signer;
  const acme = 'acme.countersign.dev';
  assert.equal(of({ group: 'countersign.dev', kind: 'ClusterSigner', name: 'a' }), 'a');
  assert.equal(of({ group: 'countersign.dev', kind: 'Signer', name: 'a' }), 'team/a');
  assert.equal(of({ group: acme, kind: 'AcmeClusterSigner', name: 'a' }), 'acme:a');
  assert.equal(of({ group: acme, kind: 'AcmeSigner', name: 'a' }), 'acme:team/a');
  for (const group of ['cert-manager.io', 'constructor', '__proto__', undefined])
    assert.equal(of({ group, kind: 'ClusterSigner', name: 'a' }), 'other:');
  // The definition of a CertificateRequest allows none. Only the webhook of cert-manager refuses.
  assert.equal(of(undefined), 'other:');
});
