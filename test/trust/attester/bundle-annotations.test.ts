// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  HOUR,
  NOW,
  SINCE,
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
  sinceOf,
} from '../../support/trust/bundles.ts';

const [A, B] = [anchor('A'), anchor('B')];
const signer = signerWith([A.pem]);
const published = served(planOf({ signer }));
const LATER = NOW + HOUR;

test('served-since of an anchor is the time of its publication, in whole seconds', () => {
  assert.deepEqual(sinceOf(planOf({ signer })), { [A.fingerprint]: '2026-11-21T09:00:00Z' });
});

test('a served anchor keeps its served-since, and a new one gets the present time', () => {
  const plan = planOf({ signer: signerWith([A.pem, B.pem]), bundle: published, now: LATER });
  assert.deepEqual(sinceOf(plan), {
    [A.fingerprint]: '2026-11-21T09:00:00Z',
    [B.fingerprint]: '2026-11-21T10:00:00Z',
  });
});

test('an anchor that was edited out and returns gets a new served-since', () => {
  const bundle = { ...published, spec: { ...published.spec, trustBundle: B.pem } };
  const plan = planOf({ signer, bundle, now: LATER });
  assert.deepEqual(sinceOf(plan), { [A.fingerprint]: '2026-11-21T10:00:00Z' });
});

test('an anchor that leaves the bundle loses its served-since', () => {
  const both = served(planOf({ signer: signerWith([A.pem, B.pem]) }));
  const plan = planOf({ signer, bundle: both, now: LATER });
  assert.deepEqual(Object.keys(sinceOf(plan) as object), [A.fingerprint]);
});

const foreign: [law: string, text: string | undefined][] = [
  ['a time in the future', JSON.stringify({ [A.fingerprint]: '2031-01-01T00:00:00Z' })],
  ['no time', JSON.stringify({ [A.fingerprint]: 'always' })],
  ['a number', JSON.stringify({ [A.fingerprint]: 0 })],
  ['another anchor’s time', JSON.stringify({ [B.fingerprint]: '2020-01-01T00:00:00Z' })],
  ['no JSON', '{'],
  ['null', 'null'],
  ['nothing', undefined],
];

for (const [law, text] of foreign) {
  test(`a served-since that another writer forged is replaced: ${law}`, () => {
    const bundle = annotated(published, { [SINCE]: text });
    const plan = planOf({ signer, bundle, now: LATER });
    assert.deepEqual(sinceOf(plan), { [A.fingerprint]: '2026-11-21T10:00:00Z' });
  });
}

test('an unreadable longest-leaf annotation is replaced by the value of the CAs', () => {
  const bundle = annotated(published, { 'countersign.dev/longest-leaf': 'long' });
  const { annotations } = served(planOf({ signer, bundle })).metadata;
  assert.equal(annotations?.['countersign.dev/longest-leaf'], '24h');
});

test('the bundle names its ClusterSigner and its installation', () => {
  const { annotations } = published.metadata;
  assert.equal(annotations?.['countersign.dev/cluster-signer'], 'workload');
  assert.equal(annotations['countersign.dev/secret-namespace'], 'countersign-keys');
});
